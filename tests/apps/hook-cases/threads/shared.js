performance.mark('own shared');
self.onconnect = ({ ports: [port] }) => port.postMessage('done');
