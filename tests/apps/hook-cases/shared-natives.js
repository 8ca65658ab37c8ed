// A SharedWorker that tells which functions of the platform it has
self.onconnect = ({ ports: [port] }) => {
  port.onmessage = () =>
    port.postMessage(
      [self.close, MessagePort.prototype.postMessage, BroadcastChannel.prototype.postMessage].map(
        String,
      ),
    );
};
