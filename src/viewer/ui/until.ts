/** Resolves once a store holds what is waited for. */
import type { Readable } from 'svelte/store';

export const until = <T>(store: Readable<T>, is: (value: T) => boolean): Promise<void> =>
  new Promise((resolve) => {
    const stop = store.subscribe((value) => {
      if (!is(value)) return;
      queueMicrotask(() => stop()); // it may be so at once
      resolve();
    });
  });
