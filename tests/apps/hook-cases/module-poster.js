// A SharedWorker whose first message its page can't read, because a module stays in its agent
// cluster. The second one is text
self.onconnect = ({ ports: [port] }) => {
  port.postMessage(new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)));
  port.postMessage('unsaid');
};
