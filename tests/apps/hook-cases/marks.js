// Marks what it is asked to, and answers over the port that came with it.
onmessage = ({ data, ports: [port] }) => {
  performance.mark(data);
  port.postMessage({ said: data });
};
