/** A trace's calls in CSV, Parquet, and the Query view, and counts of them. */
import { parquetReadObjects } from 'hyparquet';
import { grouped } from '../../../src/analysis/core/maps.ts';
import { Flag } from '../../../src/event/event.ts';
import { csv } from '../../../src/formats/csv.ts';
import { FLEET_TABLES } from '../../../src/fleet/tables.ts';
import { traceParts } from '../../../src/fleet/unit.ts';
import type { TraceStore } from '../../../src/trace/store.ts';
import { rows } from '../sql-queries.ts';

export const sum = <T>(list: Iterable<T>, of: (each: T) => unknown): number =>
  [...list].reduce((n, each) => n + Number(of(each) ?? 0), 0);

/** A call, with the columns that CSV, Parquet, and the Query view share. */
export interface Call {
  thread: number;
  seq: number;
  op: string;
  object: string | null;
  kind: string | null;
  length: number;
  result: number | null;
  flags: number;
  aux: number;
  connection: number | null;
  parent: number | null;
  fromNs: number;
  ns: number;
}
export const orNull = (value: unknown): number | null =>
  value === null || value === undefined || value === '' ? null : Number(value);
/**
 * @param cell returns a column's value
 * @param inNs converts a time to whole nanoseconds
 */
const callOf = (cell: (name: string) => unknown, inNs: (name: string) => number): Call => ({
  op: String(cell('op')),
  object: (cell('object') as string | null) || null,
  kind: (cell('kind') as string | null) || null,
  result: orNull(cell('result')),
  parent: orNull(cell('parent_seq')),
  connection: orNull(cell('connection')),
  fromNs: inNs('ts'),
  ns: inNs('dur'),
  ...{ thread: Number(cell('thread')), seq: Number(cell('seq')) },
  ...{ length: Number(cell('length')), flags: Number(cell('flags')) },
  aux: Number(cell('aux')),
});

/** Splits at line ends: no text in these traces contains one. */
export async function csvCalls(store: TraceStore): Promise<Call[]> {
  let text = '';
  for await (const piece of csv(store)) text += piece;
  const cells = (line: string): string[] =>
    [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell]) => cell!);
  const [head, ...lines] = text.trimEnd().split('\n');
  const places = Object.fromEntries(cells(head!).map((name, i) => [name, i]));
  return lines.map((line) => {
    const row = cells(line);
    return callOf(
      (name) => row[places[name]!],
      (name) => Number(row[places[`${name}_ns`]!]),
    );
  });
}
export async function parquetTable(
  store: TraceStore,
  table: string,
): Promise<Record<string, unknown>[]> {
  const input = { id: 'golden', store, name: null, labels: {}, isReported: false };
  for (const { table: name, pieces } of traceParts(input)) {
    if (name !== table) continue;
    const parts: Uint8Array[] = [];
    for await (const piece of pieces) parts.push(piece);
    return parquetReadObjects({ file: new Uint8Array(Buffer.concat(parts)).buffer });
  }
  if (!FLEET_TABLES.has(table)) throw new Error(`no table ${table}`);
  return []; // an empty table has no file
}
export const parquetCalls = async (store: TraceStore): Promise<Call[]> =>
  (await parquetTable(store, 'events')).map((row) =>
    callOf(
      (name) => row[name],
      (name) => Number(row[`${name}_ns`]),
    ),
  );
const SQL_CALLS = [
  'thread',
  'seq',
  'op',
  'object',
  'kind',
  'length',
  'result',
  'flags',
  'aux',
  'connection',
  'parent_seq',
  'ts',
  'dur',
];
/** Maximum number of rows in an answer of the Query view. */
const PAGE = 10_000;
export async function sqlCalls(store: TraceStore): Promise<Call[]> {
  const all: Call[] = [];
  do {
    const page = await rows(
      store,
      `SELECT ${SQL_CALLS.join(', ')} FROM events LIMIT ${PAGE} OFFSET ${all.length}`,
    );
    for (const row of page) {
      const cell = (name: string): unknown => row[SQL_CALLS.indexOf(name)];
      all.push(callOf(cell, (name) => Math.round(Number(cell(name)) * 1000)));
    }
  } while (all.length > 0 && all.length % PAGE === 0);
  return all;
}

/** Counts over a list of calls, computed here independently from the columns alone. */
export const counted = {
  /** Only files in storage: SQLite keeps a small journal in memory. */
  calls: (calls: readonly Call[], op: string): number =>
    sum(calls, (c) => c.op === op && c.kind !== 'memory-journal'),
  bytes: (calls: readonly Call[], op: string): number =>
    sum(calls, (c) =>
      c.op === op && c.kind !== 'memory-journal' && c.result === 0 ? c.length : 0,
    ),
  /**
   * sqlite3_exec, and each first step: a step after one that returned a row continues its
   * statement.
   */
  statements(calls: readonly Call[]): number {
    const last = new Map<string, Call>();
    return sum(calls, (c) => {
      if (!c.op.startsWith('sqlite3_') || /_(open|close)$/.test(c.op)) return false;
      const statement = `${c.thread} ${c.aux}`;
      const before = last.get(statement);
      last.set(statement, c);
      if (c.op === 'sqlite3_exec') return true;
      const goesOn = before?.op === c.op && (before.result === null || before.result === 100);
      return c.op === 'sqlite3_step' && !goesOn;
    });
  },
  /**
   * Only databases. With a write-ahead log, a call alone doesn't show whether a checkpoint made it.
   */
  pageReads: (calls: readonly Call[]): number =>
    sum(
      calls,
      (c) =>
        c.op === 'xRead' &&
        c.kind === 'main-db' &&
        c.length >= 512 &&
        (c.result === 0 || c.result === 522),
    ),
};

/**
 * Time in which SQLite waited for a lock, microseconds, from the columns of calls alone:
 * Atomics.wait in xLock and similar calls. For a suspended lock call, the time that no storage call
 * covers. If storage calls overlap, the one that began last decides; an open transaction counts
 * only if there is no other.
 */
export function lockUs(calls: readonly Call[]): number {
  let ns = 0;
  for (const own of grouped(calls, ({ thread }) => thread).values()) {
    const locks = own.filter(({ op }) => /^x(Lock|Unlock|CheckReservedLock)$/.test(op));
    const seqs = new Set(locks.map(({ seq }) => seq));
    ns += sum(own, (c) => (c.op === 'atomics.wait' && seqs.has(c.parent ?? -1) ? c.ns : 0));
    const storage = own.filter(({ op }) => /^(idb\.|opfs\.|lock\.request)/.test(op));
    for (const { seq, fromNs, ns: dur } of locks.filter(({ flags }) => flags & Flag.async)) {
      const toNs = fromNs + dur;
      const meanwhile = storage.filter(
        (s) =>
          s.fromNs < toNs &&
          s.fromNs + s.ns > fromNs &&
          (s.op !== 'lock.request' || s.parent === seq),
      );
      const borders = [fromNs, toNs, ...meanwhile.flatMap((s) => [s.fromNs, s.fromNs + s.ns])]
        .filter((at) => at >= fromNs && at <= toNs)
        .sort((a, b) => a - b);
      borders.slice(1).forEach((to, i) => {
        const open = meanwhile.filter((s) => s.fromNs < to && s.fromNs + s.ns >= to);
        const last = open.filter(({ op }) => op !== 'idb.transaction').at(-1);
        if (last ? last.op === 'lock.request' : open.length === 0) ns += to - borders[i]!;
      });
    }
  }
  return ns / 1000;
}
