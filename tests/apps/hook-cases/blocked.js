// Waits in Atomics.wait after a few recorded calls, so only its shared ring has what it did.
self.onmessage = ({ data }) => {
  performance.mark('before the wait');
  const words = new Int32Array(data);
  Atomics.store(words, 1, 1);
  Atomics.wait(words, 0, 0);
  self.postMessage({ done: true });
};
