// A SharedWorker is one for all its connections.
let connections = 0;
self.onconnect = ({ ports }) => ports[0].postMessage({ connections: ++connections, done: true });
