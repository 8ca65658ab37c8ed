/**
 * When a thread ended. Calls that it left open can't have lasted longer, even if the recording went
 * on.
 */
import { Op } from '../event/event.ts';
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

/** `aux` of a navigation (hooks/host-events.ts). */
const INTO_CACHE = 3;

/** Whether this page was in the back/forward cache at its last record. Nothing runs there. */
export function isCached({ events }: ThreadStore): boolean {
  for (let row = events.count - 1; row >= 0; row--)
    if (events.op[row] === Op.navigation) return events.aux[row] === INTO_CACHE;
  return false;
}
