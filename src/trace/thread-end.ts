/** When a thread ended: calls that it left open lasted no longer, whatever went on elsewhere. */
import type { ThreadStore } from './store.ts';

/** End of what is known of a thread, microseconds; 0 where it has no events. */
export const lastEndUs = ({ lastUs }: ThreadStore): number => Math.max(0, lastUs);

/** A thread's end, or the trace's where it goes on, microseconds. @param traceEndUs so far, as who asks knows it: no thread ends after it */
export const threadEndUs = (thread: ThreadStore, traceEndUs: number): number =>
  thread.ended === null || thread.ended === 'stopped'
    ? traceEndUs
    : Math.min(lastEndUs(thread), traceEndUs);
