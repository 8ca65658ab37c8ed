// Top-level await before the listener, so earlier messages are lost.
performance.mark('case');
await new Promise((resolve) => setTimeout(resolve, 20));
self.onmessage = ({ data }) => self.postMessage({ echo: data, done: data === 'last' });
self.postMessage('ready');
