/** Blocks a worker, as a slow device does during a call. */

const FREE = 0;
// captured before a seeded run replaces them
const now = performance.now.bind(performance);

/** null where the browser has no shared memory here. */
const sleeper = ((): Int32Array | null => {
  try {
    return new Int32Array(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer);
  } catch {
    return null; // then it is a busy wait
  }
})();

/** @param ms how long nothing else runs on this thread */
export function pause(ms: number): void {
  const until = now() + ms;
  if (sleeper) Atomics.wait(sleeper, 0, FREE, ms);
  while (now() < until);
}
