/** Walks the events of several threads in the order of their begin, without a copy: threads of one trace share one clock. */
import type { ThreadStore } from '../store.ts';

/**
 * @param each called for every row, by begin; rows of one thread stay in the thread's own order
 * @param fromUs first begin @param toUs begins before it
 */
export function eachInTimeOrder(
  threads: readonly ThreadStore[],
  each: (thread: ThreadStore, row: number) => void,
  fromUs = -Infinity,
  toUs = Infinity,
): void {
  const live = threads.filter((t) => t.events.count > 0);
  const at = live.map((t) => (fromUs === -Infinity ? 0 : t.events.lowerBound(fromUs)));
  const stop = live.map((t) => (toUs === Infinity ? t.events.count : t.events.lowerBound(toUs)));
  for (;;) {
    let next = -1;
    let nextUs = Infinity;
    let secondUs = Infinity;
    for (let i = 0; i < live.length; i++) {
      if (at[i]! >= stop[i]!) continue;
      const us = live[i]!.events.t0[at[i]!]!;
      if (next < 0 || us < nextUs) {
        secondUs = nextUs;
        nextUs = us;
        next = i;
      } else if (us < secondUs) secondUs = us;
    }
    if (next < 0) return;
    const thread = live[next]!;
    const { t0 } = thread.events;
    let row = at[next]!;
    do each(thread, row++);
    while (row < stop[next]! && t0[row]! <= secondUs);
    at[next] = row;
  }
}
