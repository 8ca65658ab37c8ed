// Calls at a steady rate, in short series between which messages are received.

const STRETCH_MS = 5;

const nextTask = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Calls `work(n)`, which makes about n calls and returns how many it made, until the time is over
 * or `going()` returns false.
 * @returns {Promise<{calls: number, ms: number}>}
 */
export async function keepPace({ rate = 0, seconds = 5, going = () => true }, work) {
  const began = performance.now();
  let calls = 0;
  for (;;) {
    const ms = performance.now() - began;
    if (ms >= seconds * 1000 || !going()) return { calls, ms };
    const behind = rate ? (ms / 1000) * rate - calls : Infinity;
    if (behind > 0) {
      const most = rate
        ? Math.min(Math.ceil(behind), Math.ceil((rate * STRETCH_MS * 4) / 1000))
        : 1000;
      calls += await work(most);
      await nextTask();
    } else await sleep(STRETCH_MS);
  }
}
