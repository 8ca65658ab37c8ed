/** When a thread ended: calls that it left open lasted no longer, whatever went on elsewhere. */
import type { ThreadStore } from './store.ts';

/** Found once for what has ended: timelines ask with every picture. */
const found = new WeakMap<
  ThreadStore,
  { received: number; count: number; forgotten: number; us: number }
>();

/** End of what is known of a thread, microseconds; 0 where it has no events. */
export function lastEndUs({ events: { count, t0, dur } }: ThreadStore): number {
  let us = 0;
  for (let i = 0; i < count; i++) us = Math.max(us, t0[i]! + dur[i]!);
  return us;
}

/** A thread's end, or the trace's where it goes on, microseconds. @param traceEndUs so far, as who asks knows it: no thread ends after it */
export function threadEndUs(thread: ThreadStore, traceEndUs: number): number {
  const { ended, events, received, forgotten } = thread;
  if (ended === null || ended === 'stopped') return traceEndUs;
  const { count } = events;
  const known = found.get(thread);
  if (known?.received === received && known.count === count && known.forgotten === forgotten)
    return Math.min(known.us, traceEndUs);
  const us = lastEndUs(thread);
  found.set(thread, { received, count, forgotten, us });
  return Math.min(us, traceEndUs);
}
