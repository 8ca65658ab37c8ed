// Throws at load, hides that from its creator, and keeps running.
performance.mark('case');
self.onerror = () => true;
self.onmessage = ({ data }) =>
  self.postMessage({ echo: data instanceof ArrayBuffer ? 0 : data, done: data === 'last' });
throw new RangeError('thrown at load');
