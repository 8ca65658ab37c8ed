/** IndexedDB transactions of a trace with what was asked in them: one row each, in the order of their creation on each thread. */
import { Flag, Op } from '../../event/event.ts';
import { codesOf, IDB_REQUEST } from '../../event/operations.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { findingFact, type FindingContext } from '../rules/context.ts';

export interface IdbTransaction {
  thread: ThreadStore;
  row: number;
  /** 0 readonly, 1 readwrite, 2 versionchange */
  mode: number;
  /** 0 default, 1 strict, 2 relaxed */
  durability: number;
  fromUs: number;
  /** End, or the trace's end where none was seen. */
  toUs: number;
  /** complete or abort was seen. */
  ended: boolean;
  requests: number;
  writes: number;
  /** Time with a request of it under way is at least that of its longest one, microseconds. */
  longestRequestUs: number;
  /** Stores used: ids of the thread. */
  stores: Set<number>;
}

const REQUESTS = codesOf(({ request }) => request !== null);

/** Versionchange transactions are among them. Calls that threw are not. */
export const idbTransactions = findingFact(
  'idbTransactions',
  'IndexedDB transactions',
  idbTransactionsOf,
);

function idbTransactionsOf(ctx: FindingContext): IdbTransaction[] {
  const found: IdbTransaction[] = [];
  for (const thread of ctx.store.threads) {
    const { events } = thread;
    const byId = new Map<number, IdbTransaction>();
    for (const row of ctx.rows(thread, Op.idbTransaction)) {
      const threw = (events.flags[row]! & Flag.threw) !== 0;
      if (threw) continue;
      const ended = events.endSeq[row] !== 0;
      const t: IdbTransaction = {
        thread,
        row,
        mode: events.aux[row]! & 3,
        durability: (events.aux[row]! >>> 2) & 3,
        fromUs: events.t0[row]!,
        ended,
        toUs: ended ? events.t0[row]! + events.dur[row]! : ctx.toUs,
        requests: 0,
        writes: 0,
        longestRequestUs: 0,
        stores: new Set(),
      };
      byId.set(events.context[row]!, t);
      found.push(t);
    }
    if (byId.size === 0) continue;
    for (const op of REQUESTS)
      for (const row of ctx.rows(thread, op)) {
        const t = byId.get(events.context[row]!);
        if (!t) continue;
        t.requests++;
        if (IDB_REQUEST[op] === 2) t.writes++;
        t.longestRequestUs = Math.max(t.longestRequestUs, events.dur[row]!);
        t.stores.add(events.object[row]!);
      }
  }
  return found;
}

/** Median; NaN of none. */
export function medianOf(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  return sorted.length ? sorted[(sorted.length - 1) >> 1]! : NaN;
}
