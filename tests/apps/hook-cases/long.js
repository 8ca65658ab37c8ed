// One long synchronous stretch of recorded calls; what it says at the end is how many.
self.onmessage = ({ data: calls }) => {
  const words = new Int32Array(2);
  for (let i = 0; i < calls; i++) Atomics.notify(words, 0);
  self.postMessage({ calls, done: true });
};
