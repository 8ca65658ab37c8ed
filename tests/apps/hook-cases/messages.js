// Answers every message; sends back what comes over a port, and tells a channel of the last message
const channel = new BroadcastChannel('golden');
let n = 0;
self.onmessage = ({ ports: [port] }) => {
  n++;
  if (port) port.onmessage = ({ data }) => port.postMessage(data);
  self.postMessage(`unsaid answer ${n}`);
  if (n === 5) channel.postMessage('unsaid broadcast');
};
