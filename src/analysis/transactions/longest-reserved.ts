/** The longest time for which a database was held at RESERVED or above. */
import type { TraceStore } from '../../trace/store.ts';
import { threadEndUs } from '../../trace/thread-end.ts';
import { fact } from '../core/graph.ts';
import { extent } from '../core/time-range.ts';
import { LockLevel } from '../../sqlite/constants.ts';
import { connectionKey, LockLevels, SETS_LEVEL } from '../../trace/lock-levels.ts';

/** No other connection could write in this time. */
export interface ReservedHold {
  /** Place in TraceStore.threads. */
  thread: number;
  path: string;
  /** Row of the xLock call that took it. */
  row: number;
  fromUs: number;
  toUs: number;
  /** Not released before its thread or the trace ended. */
  open: boolean;
}

/**
 * null if no lock of that level was seen. Holds that weren't released last until their thread's
 * end.
 */
export const longestReserved = fact(
  'longestReserved',
  'write locks',
  { extent },
  (store, { extent }) => longestReservedHold(store, extent[1]),
);

function longestReservedHold(store: TraceStore, traceEnd: number): ReservedHold | null {
  let longest: ReservedHold | null = null;
  for (const thread of store.threads) {
    const { events, definitions, index } = thread;
    const levels = new LockLevels(events);
    const held = new Map<number, number>();
    const close = (row: number, toUs: number, open: boolean): void => {
      const fromUs = events.t0[row]! + events.dur[row]!;
      if (longest && toUs - fromUs <= longest.toUs - longest.fromUs) return;
      const file = definitions.get(events.object[row]!);
      longest = {
        thread: index,
        path: file?.kind === 'file' ? file.path : '',
        row,
        fromUs,
        toUs,
        open,
      };
    };
    for (let i = 0; i < events.count; i++) {
      if (!SETS_LEVEL[events.op[i]!]) continue;
      const before = levels.of(i);
      const after = levels.take(i);
      const key = connectionKey(events.object[i]!, events.context[i]!);
      if (before < LockLevel.reserved && after >= LockLevel.reserved) held.set(key, i);
      else if (before >= LockLevel.reserved && after < LockLevel.reserved) {
        close(held.get(key)!, events.t0[i]! + events.dur[i]!, false);
        held.delete(key);
      }
    }
    for (const row of held.values()) close(row, threadEndUs(thread, traceEnd), true);
  }
  return longest;
}
