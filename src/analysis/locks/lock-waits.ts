/** How often somebody had to wait for a lock. */
import { Op } from '../../event/event.ts';
import { isBusy } from '../../sqlite/constants.ts';
import type { TraceStore } from '../../trace/store.ts';
import { fact } from '../graph.ts';

/** A Web Lock that is granted later than this was waited for; sooner is the request's own round trip. */
const LOCK_WAIT_US = 1000;

/** xLock calls answered SQLITE_BUSY, and Web Locks granted more than 1 ms after they were asked for. */
export const lockWaits = fact('lockWaits', 'waits for locks', {}, lockWaitsOf);

function lockWaitsOf({ threads }: TraceStore): number {
  let waits = 0;
  for (const { events } of threads)
    for (let i = 0; i < events.count; i++) {
      const op = events.op[i]!;
      if (op === Op.xLock) {
        if (isBusy(events.result[i]!)) waits++;
      } else if (op === Op.lockRequest && events.dur[i]! > LOCK_WAIT_US) waits++;
    }
  return waits;
}
