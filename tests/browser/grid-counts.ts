/**
 * The oracle's counts, read from a recording of the same run. The engine grids of both browsers
 * compare these.
 */
import { Flag, Op } from '../../src/event/event.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import type { EngineApp } from '../oracle/catalog.ts';
import { requestName, type OracleCounts } from '../oracle/tracing.ts';

/** Time of a mark around the run in the trace, microseconds. */
function markAt(store: TraceStore, prefix: string): number {
  for (const { events, definitions } of store.threads)
    for (let i = 0; i < events.count; i++) {
      const name = events.op[i] === Op.mark ? definitions.get(events.object[i]!) : undefined;
      if (name?.kind === 'name' && name.text.startsWith(prefix)) return events.t0[i]!;
    }
  throw new Error(`the trace holds no mark ${prefix}`);
}

/**
 * What the oracle counts, from the trace's events between its marks. @param whole use all events,
 * because nothing marks the run
 */
export function countsOf(store: TraceStore, whole = false): OracleCounts {
  const from = whole ? -Infinity : markAt(store, 'oracle-begin');
  const to = whole ? Infinity : markAt(store, 'oracle-end');
  const opfs = { reads: 0, readBytesAsked: 0, writes: 0, writeBytes: 0, flushes: 0, truncates: 0 };
  const requests: Record<string, number> = {};
  let transactions = 0;
  for (const { events } of store.threads)
    for (let i = events.lowerBound(from); i < events.count && events.t0[i]! <= to; i++) {
      const op = events.op[i]!;
      if (op === Op.opfsRead) {
        opfs.reads++;
        opfs.readBytesAsked += events.length[i]!;
      } else if (op === Op.opfsWrite) {
        opfs.writes++;
        opfs.writeBytes += events.length[i]!;
      } else if (op === Op.opfsFlush) opfs.flushes++;
      else if (op === Op.opfsTruncate) opfs.truncates++;
      else if (op === Op.idbTransaction && (events.aux[i]! & 3) !== 2) transactions++;
      else if (op >= Op.idbGet && op <= Op.idbCursorDelete) {
        const method = requestName(op);
        requests[method] = (requests[method] ?? 0) + 1;
      }
    }
  return {
    opfs,
    idb: {
      transactions,
      requests: Object.fromEntries(Object.entries(requests).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

/** How many `get` threw. */
export const thrownGets = (store: TraceStore): number =>
  store.threads.reduce(
    (n, { events }) =>
      n +
      events.op
        .subarray(0, events.count)
        .filter((op, i) => op === Op.idbGet && (events.flags[i]! & Flag.threw) !== 0).length,
    0,
  );

/** The counts except the one that depends on timing. */
export function repeatable(app: EngineApp, { opfs, idb }: OracleCounts): unknown {
  const { count, why } = app.countVaries ?? {};
  return {
    opfs: count === 'opfs.flushes' ? { ...opfs, flushes: why } : opfs,
    idb: count === 'idb.transactions' ? { ...idb, transactions: why } : idb,
  };
}
