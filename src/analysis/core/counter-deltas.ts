/**
 * Readings of SQLite's page-cache counters (sqlite3_db_status) as differences. The engine gives sums since the connection was opened;
 * the first reading of a connection opened before the recording is therefore only a start.
 */
import { Op } from '../../event/event.ts';
import type { ThreadStore } from '../../trace/store.ts';

/** One row per reading, in the thread's order: what happened since the connection's reading before. */
interface CounterDeltas {
  count: number;
  /** Row of the reading. */
  row: Uint32Array;
  connection: Uint32Array;
  hits: Float64Array;
  misses: Float64Array;
  writes: Float64Array;
  spills: Float64Array;
  /** 0 = the connection's first reading, and its opening was not seen: what it says happened before the recording, in part. */
  known: Uint8Array;
}

export function counterDeltas({ events }: ThreadStore): CounterDeltas {
  const { op, context, count } = events;
  let n = 0;
  for (let row = 0; row < count; row++) if (op[row] === Op.sqlCounters) n++;
  const out: CounterDeltas = {
    count: n,
    row: new Uint32Array(n),
    connection: new Uint32Array(n),
    hits: new Float64Array(n),
    misses: new Float64Array(n),
    writes: new Float64Array(n),
    spills: new Float64Array(n),
    known: new Uint8Array(n),
  };
  if (n === 0) return out;
  const opened = new Set<number>();
  /** Row of the last reading by connection. */
  const last = new Map<number, number>();
  let i = 0;
  for (let row = 0; row < count; row++) {
    if (op[row] === Op.sqlOpen) opened.add(context[row]!);
    if (op[row] !== Op.sqlCounters) continue;
    const connection = context[row]!;
    const before = last.get(connection) ?? -1;
    last.set(connection, row);
    out.row[i] = row;
    out.connection[i] = connection;
    out.known[i] = before >= 0 || opened.has(connection) ? 1 : 0;
    const since = (column: ArrayLike<number>): number => {
      const now = column[row] ?? 0;
      const then = before < 0 ? 0 : (column[before] ?? 0);
      return now < then ? now : now - then; // the app had them reset
    };
    out.hits[i] = since(events.offset);
    out.misses[i] = since(events.length);
    out.writes[i] = since(events.aux);
    out.spills[i] = since(events.aux2);
    i++;
  }
  return out;
}
