// Starts its own worker, by a relative URL.
performance.mark('case');
const inner = new Worker('echo.js', { name: 'inner' });
inner.onmessage = ({ data }) => self.postMessage({ inner: data, done: data.done });
self.onmessage = ({ data }) => inner.postMessage(data);
