// Throws at load, and keeps that from its creator: it runs on.
performance.mark('case');
self.onerror = () => true;
self.onmessage = ({ data }) =>
  self.postMessage({ echo: data instanceof ArrayBuffer ? 0 : data, done: data === 'last' });
throw new RangeError('thrown at load');
