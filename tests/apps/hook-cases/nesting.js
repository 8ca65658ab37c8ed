// A SharedWorker whose own worker sets the marks that the pages request, and answers them.
const inner = new Worker('marks.js', { name: 'inner' });
addEventListener('connect', ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    const answer = new MessageChannel();
    answer.port1.onmessage = (said) => port.postMessage(said.data);
    inner.postMessage(data, [answer.port2]);
  };
});
