/** How often somebody had to wait for a lock. */
import { Op } from '../../event/event.ts';
import { isRefusal } from '../../sqlite/constants.ts';
import type { TraceStore } from '../../trace/store.ts';
import { threadEndUs } from '../../trace/thread-end.ts';
import { fact } from '../core/graph.ts';

/** A Web Lock that is granted later than this was waited for; sooner is the request's own round trip. */
const LOCK_WAIT_US = 1000;

/** xLock calls that were refused, and Web Locks not granted within 1 ms: those still waited for, too. */
export const lockWaits = fact('lockWaits', 'waits for locks', {}, lockWaitsOf);

function lockWaitsOf(store: TraceStore): number {
  let waits = 0;
  let traceEndUs: number | null = null;
  const end = (): number => (traceEndUs ??= store.extent()[1]);
  for (const thread of store.threads) {
    const { events } = thread;
    for (let i = 0; i < events.count; i++) {
      const op = events.op[i]!;
      if (op === Op.xLock) {
        if (isRefusal(events.result[i]!)) waits++;
      } else if (op === Op.lockRequest) {
        const open = events.endSeq[i] === 0;
        const us = open ? threadEndUs(thread, end()) - events.t0[i]! : events.dur[i]!;
        if (us > LOCK_WAIT_US) waits++;
      }
    }
  }
  return waits;
}
