/**
 * Pauses long work in the store's worker, so that messages that have arrived meanwhile are handled.
 */
export const yieldToMessages = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
