// A SharedWorker whose first message its page can't read: a module stays in its cluster of agents. The second one is a text
self.onconnect = ({ ports: [port] }) => {
  port.postMessage(new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)));
  port.postMessage('unsaid');
};
