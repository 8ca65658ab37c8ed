/** Pauses in long work of the store's worker. */

/** Lets messages that have come meanwhile be answered. */
export const rest = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
