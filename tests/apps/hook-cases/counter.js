// One SharedWorker for all its pages: counts connections, answers each page, and sets the requested
// marks.
const id = String(Math.random());
let connections = 0;
addEventListener('connect', ({ ports: [port] }) => {
  connections++;
  port.onmessage = ({ data }) => {
    performance.mark(data);
    port.postMessage({ id, connections, name: self.name, location: String(location), said: data });
  };
});
