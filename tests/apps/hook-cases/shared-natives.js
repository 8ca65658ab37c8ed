// A SharedWorker that reports which functions of the platform are native
self.onconnect = ({ ports: [port] }) => {
  port.onmessage = () =>
    port.postMessage(
      [self.close, MessagePort.prototype.postMessage, BroadcastChannel.prototype.postMessage].map(
        String,
      ),
    );
};
