// One long synchronous stretch of recorded calls, each after a rest of `ms` in its address; what it says at the end is how many.
const ms = Number(new URLSearchParams(location.search).get('ms'));
self.onmessage = ({ data: calls }) => {
  const words = new Int32Array(2);
  for (let i = 0; i < calls; i++) {
    for (const from = performance.now(); performance.now() - from < ms;);
    Atomics.notify(words, 0);
  }
  self.postMessage({ calls, done: true });
};
