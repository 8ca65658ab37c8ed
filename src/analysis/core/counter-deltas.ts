/**
 * Readings of SQLite's page-cache counters (sqlite3_db_status) as differences. The engine's sums
 * begin when the connection is opened, so the first reading of a connection that was opened before
 * the recording is only a start. A sum that decreases ends what is known about a connection: the
 * app resets the counters (and may do so again, unseen), or detached a database and so lost the
 * counts of its cache.
 */
import { threadFact, type ByThread } from './graph.ts';
import { rowsByOperation, type RowsByOperation } from './rows-by-operation.ts';
import { columns, each } from '../../trace/number-columns.ts';
import { Op } from '../../event/event.ts';
import { opSet } from '../../event/operations.ts';
import type { EventColumns } from '../../trace/columns.ts';
import type { ThreadStore } from '../../trace/store.ts';

/** What a page cache did. */
export interface CacheCounts {
  hits: number;
  misses: number;
  /** Pages written, to the database or the WAL. */
  writes: number;
  /** Pages written early, to make room in the cache during a transaction. */
  spills: number;
}
/** Their names. */
export const CACHE_COUNTS = ['hits', 'misses', 'writes', 'spills'] as const;
export const NO_COUNTS: CacheCounts = { hits: 0, misses: 0, writes: 0, spills: 0 };
/** Share of page requests that the cache answered; null without requests. */
export const hitRate = ({ hits, misses }: { hits: number; misses: number }): number | null =>
  hits + misses ? hits / (hits + misses) : null;

interface Reading extends CacheCounts {
  /**
   * false = its counts may be from before the recording, or from before the app reset the counters.
   */
  known: boolean;
}

/** Reads the rows of one thread in order. The trace may grow in the meantime. */
export class CounterReadings {
  /** By connection: row of its last reading; -1 = none since it was opened. */
  private readonly last = new Map<number, number>();
  /** Connections whose sums decreased. */
  private readonly fell = new Set<number>();

  /** @returns what happened since the connection's previous reading; null for other rows */
  take(events: EventColumns, row: number): Reading | null {
    const op = events.op[row];
    if (op !== Op.sqlCounters && op !== Op.sqlOpen) return null;
    const connection = events.context[row]!;
    const before = this.last.get(connection);
    if (op === Op.sqlOpen) {
      if (before === undefined) this.last.set(connection, -1);
      return null;
    }
    this.last.set(connection, row);
    const since = (column: ArrayLike<number>): number => {
      const now = column[row] ?? 0;
      const then = before === undefined || before < 0 ? 0 : (column[before] ?? 0);
      if (now < then) this.fell.add(connection);
      return Math.max(0, now - then);
    };
    const counts = {
      hits: since(events.offset),
      misses: since(events.length),
      writes: since(events.aux),
      spills: since(events.aux2),
    };
    return { ...counts, known: before !== undefined && !this.fell.has(connection) };
  }
}

/** The readings of one thread, summed row by row. */
export class CacheSums {
  hits = 0;
  misses = 0;
  writes = 0;
  spills = 0;
  readings = 0;
  private readonly from = new CounterReadings();

  take(events: EventColumns, row: number): void {
    const reading = this.from.take(events, row);
    if (!reading?.known) return;
    this.readings++;
    for (const name of CACHE_COUNTS) this[name] += reading[name];
  }
}

/**
 * One row per reading, in the thread's order: what happened since the connection's previous
 * reading.
 */
export class CounterDeltas extends columns({
  /** Row of the reading. */
  row: Uint32Array,
  connection: Uint32Array,
  ...each(CACHE_COUNTS, Float64Array),
  /** 1 = known, as in Reading. */
  known: Uint8Array,
}) {}

/** Of each thread. */
export const counterDeltas = threadFact(
  'counterDeltas',
  'readings of the page cache',
  { rowsByOperation },
  counterDeltasOf,
);

const READINGS = opSet(Op.sqlCounters, Op.sqlOpen);
function counterDeltasOf(
  thread: ThreadStore,
  known: { rowsByOperation: ByThread<RowsByOperation> },
): CounterDeltas {
  const { events } = thread;
  const deltas = new CounterDeltas();
  const readings = new CounterReadings();
  for (const row of known.rowsByOperation.of(thread).together(READINGS)) {
    const reading = readings.take(events, row);
    if (!reading) continue;
    const i = deltas.add();
    deltas.row[i] = row;
    deltas.connection[i] = events.context[row]!;
    for (const name of CACHE_COUNTS) deltas[name][i] = reading[name];
    deltas.known[i] = Number(reading.known);
  }
  return deltas;
}
