/**
 * When a thread ended. Calls that it left open can't have lasted longer, even if the recording went
 * on.
 */
import type { ThreadStore } from './store.ts';

/** End of what is known about a thread, microseconds; 0 without events. */
export const lastEndUs = ({ lastUs }: ThreadStore): number => Math.max(0, lastUs);

/**
 * A thread's end, or the trace's if it is still running, microseconds.
 * @param traceEndUs the trace's end so far, as the caller knows it: no thread ends later
 */
export const threadEndUs = (thread: ThreadStore, traceEndUs: number): number =>
  thread.ended === null || thread.ended === 'stopped'
    ? traceEndUs
    : Math.min(lastEndUs(thread), traceEndUs);
