// One long synchronous stretch of recorded calls, the last `slow` of its address each after 5 ms; what it says at the end is how many.
const slow = Number(new URLSearchParams(location.search).get('slow'));
self.onmessage = ({ data: calls }) => {
  const words = new Int32Array(2);
  for (let i = 0; i < calls; i++) {
    if (i >= calls - slow) for (const from = performance.now(); performance.now() - from < 5;);
    Atomics.notify(words, 0);
  }
  self.postMessage({ calls, done: true });
};
