/**
 * Statements that began to read a database and were neither stepped to their end, reset, nor
 * finalized. Each keeps its snapshot, so that no checkpoint can go beyond it and the log can't
 * restart (https://www.sqlite.org/wal.html#avoiding_excessively_large_wal_files).
 */
import { Op } from '../../event/event.ts';
import { databaseName } from '../../event/file-names.ts';
import { objectName } from '../../trace/describe.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { threadEndUs } from '../../trace/thread-end.ts';
import { walHistories, type WalHistory } from './wal.ts';
import { ExecutionState, executions, type Executions } from '../core/executions.ts';
import { databasesByConnection } from '../core/connection-databases.ts';
import { UNKNOWN_SQL } from '../../text/clean.ts';
import { quoted } from '../core/quoted.ts';
import { formatMoment } from '../../text/numbers.ts';
import { fact, type ByThread } from '../core/graph.ts';

export interface OpenReader {
  /** Place in TraceStore.threads. */
  thread: number;
  /** Row of its first step. */
  row: number;
  /** '' = not known. */
  sql: string;
  /** Names of the databases that its connection uses. */
  databases: ReadonlySet<string>;
  /** From its first step until its thread's end, microseconds. */
  fromUs: number;
  toUs: number;
}

/** The first to begin comes first. */
export const openReaders = fact(
  'openReaders',
  'statements left open',
  { executions, databasesByConnection },
  (store, known): readonly OpenReader[] => {
    const [, endUs] = store.extent();
    return store.threads
      .flatMap((thread) =>
        readersOf(thread, known.executions.of(thread), known.databasesByConnection, endUs),
      )
      .sort((a, b) => a.fromUs - b.fromUs);
  },
);

function readersOf(
  thread: ThreadStore,
  runs: Executions,
  ofConnections: ByThread<ReadonlyMap<number, ReadonlySet<string>>>,
  endUs: number,
): OpenReader[] {
  const { events, index } = thread;
  const lastCall = new Uint32Array(runs.count);
  for (let i = 0; i < runs.calls.count; i++)
    lastCall[runs.calls.execution[i]!] = runs.calls.row[i]!;
  const left = Array.from({ length: runs.count }, (_, i) => i).filter(
    (i) => runs.state[i] === ExecutionState.rowsLeft && events.op[lastCall[i]!] === Op.sqlStep,
  );
  if (left.length === 0) return [];
  const databases = ofConnections.of(thread);
  return left.map((i) => {
    const row = runs.firstRow[i]!;
    return {
      thread: index,
      row,
      sql: objectName(thread, runs.text[i]!),
      databases: databases.get(events.context[row]!) ?? new Set(),
      fromUs: events.t0[row]!,
      toUs: threadEndUs(thread, endUs),
    };
  });
}

/** By index in walHistories: those that were open when the log was last written. */
export const logReaders = fact(
  'logReaders',
  'readers of write-ahead logs',
  { walHistories, openReaders },
  (_, known): readonly (readonly OpenReader[])[] =>
    known.walHistories.map((log) => known.openReaders.filter((reader) => holds(reader, log))),
);

function holds({ databases, fromUs, toUs }: OpenReader, { path, series }: WalHistory): boolean {
  const lastUs = series.timeUs.at(-1) ?? -Infinity;
  return databases.has(databaseName(path)) && fromUs < lastUs && toUs >= lastUs;
}

/** The statement, its thread, and since when it is open. @param titles of the threads */
export function readerText({ sql, thread, fromUs }: OpenReader, titles: readonly string[]): string {
  const what = sql ? quoted(sql) : UNKNOWN_SQL;
  return `${what}, stepped at ${formatMoment(fromUs)} on ${titles[thread]!} and left open`;
}
