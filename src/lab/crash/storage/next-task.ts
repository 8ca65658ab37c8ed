/**
 * Runs work in a separate task, after all microtasks of this one, in the order of the calls. Timers
 * would be slower and less regular.
 */

type Later = (work: () => void) => void;

/**
 * Browsers have no setImmediate. In Node, an open port would keep the process alive, and a closed
 * one would end it.
 */
export const nextTask: Later =
  (globalThis as { setImmediate?: Later }).setImmediate?.bind(globalThis) ?? overChannel();

function overChannel(): Later {
  const waiting: (() => void)[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => waiting.shift()?.();
  return (work) => {
    waiting.push(work);
    port2.postMessage(null);
  };
}
