// One long synchronous series of recorded calls. The last `slow` of them, a URL parameter, each
// come after 5 ms. At the end it reports their number.
const slow = Number(new URLSearchParams(location.search).get('slow'));
self.onmessage = ({ data: calls }) => {
  const words = new Int32Array(2);
  for (let i = 0; i < calls; i++) {
    if (i >= calls - slow) for (const from = performance.now(); performance.now() - from < 5;);
    Atomics.notify(words, 0);
  }
  self.postMessage({ calls, done: true });
};
