// Answers every message, echoes what comes over a port, and posts the last message to a channel
const channel = new BroadcastChannel('golden');
let n = 0;
self.onmessage = ({ ports: [port] }) => {
  n++;
  if (port) port.onmessage = ({ data }) => port.postMessage(data);
  self.postMessage(`unsaid answer ${n}`);
  if (n === 5) channel.postMessage('unsaid broadcast');
};
