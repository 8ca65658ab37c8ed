/**
 * The statements that the busiest connection of a recording ran, in order, with the size of its
 * database at each.
 */
import { databaseName } from '../../event/file-names.ts';
import { Op } from '../../event/event.ts';
import { databasesByConnection } from '../../analysis/core/connection-databases.ts';
import { executions, ExecutionState } from '../../analysis/core/executions.ts';
import type { Facts } from '../../analysis/core/graph.ts';
import { eachBound } from '../../analysis/statements/bound-values.ts';
import { Rc } from '../../sqlite/constants.ts';
import { SMALLEST_PAGE } from '../../sqlite/page-size.ts';
import { statementsIn } from '../../sqlite/sql-text.ts';
import type { ThreadStore } from '../../trace/store.ts';

export interface Executed {
  /** One statement as recorded. Its literals may be folded to `?`. */
  readonly sql: string;
  /** The recording cut its text. */
  readonly cut: boolean;
  /** It failed in the app, or hadn't ended. */
  readonly failed: boolean;
  /** Values of this run as SQL literals; null: not recorded, or not complete. */
  readonly values: readonly string[] | null;
  /** null: the call ran several statements. */
  readonly rows: number | null;
  /** Database size in bytes when it ended, as far as reads and writes show. */
  readonly bytes: number;
}
export interface RecordedConnection {
  readonly statements: readonly Executed[];
  /** Connections that ran statements. */
  readonly connections: number;
  /** Index of its thread in TraceStore.threads, and its id there. */
  readonly thread: number;
  readonly context: number;
  /** As in `databaseName`; null: no VFS call shows it. */
  readonly database: string | null;
  /** Database size in bytes before the first write, as far as reads show. */
  readonly bytesAtStart: number;
  /** Pages that its connection read from the database file. */
  readonly pagesRead: number;
}

/** @returns null where the recording has no statement texts */
export function busiestConnection(facts: Facts): RecordedConnection | null {
  const { threads } = facts.store;
  const runs = new Map<string, { thread: number; context: number; count: number }>();
  threads.forEach((thread, at) => {
    const all = facts.get(executions).of(thread);
    for (let i = 0; i < all.count; i++) {
      if (thread.definitions.get(all.text[i]!)?.kind !== 'sql') continue;
      const context = thread.events.context[all.firstRow[i]!]!;
      const key = `${at} ${context}`;
      const known = runs.get(key) ?? { thread: at, context, count: 0 };
      known.count++;
      runs.set(key, known);
    }
  });
  const [busiest] = [...runs.values()].sort((a, b) => b.count - a.count);
  if (!busiest) return null;
  const { thread, context } = busiest;
  const store = threads[thread]!;
  const [database = null] = facts.get(databasesByConnection).of(store).get(context) ?? [];
  return {
    ...statementsOf(facts, store, context, database),
    connections: runs.size,
    thread,
    context,
    database,
  };
}

function statementsOf(
  facts: Facts,
  thread: ThreadStore,
  context: number,
  database: string | null,
): Pick<RecordedConnection, 'statements' | 'bytesAtStart' | 'pagesRead'> {
  const { definitions, events } = thread;
  const bound = new Map<number, readonly string[]>();
  eachBound(thread, (row, { values, left }) => {
    if (left === 0 && values.every((value) => !value.endsWith('…'))) bound.set(row, values);
  });
  const sizes = sizesOf(thread, database, context);
  const all = facts.get(executions).of(thread);
  const statements: Executed[] = [];
  for (let i = 0; i < all.count; i++) {
    const first = all.firstRow[i]!;
    const d = definitions.get(all.text[i]!);
    if (events.context[first] !== context || d?.kind !== 'sql') continue;
    const state = all.state[i];
    const texts = statementsIn(d.text);
    for (const [n, sql] of texts.entries())
      statements.push({
        sql,
        cut: d.truncated === true && n === texts.length - 1,
        failed: state === ExecutionState.failed || state === ExecutionState.running,
        values: texts.length === 1 ? (bound.get(first) ?? null) : null,
        rows: texts.length === 1 ? all.rows[i]! : null,
        // nested calls come after it, and before the next one
        bytes: sizes.at((i + 1 < all.count ? all.firstRow[i + 1]! : events.count) - 1),
      });
  }
  return { statements, bytesAtStart: sizes.start, pagesRead: sizes.pagesRead };
}

/**
 * The size of a database at the ends of its reads and writes, and the reads of one connection.
 * @returns `at`, to call for rows in order
 */
function sizesOf(
  { definitions, events }: ThreadStore,
  database: string | null,
  context: number,
): { start: number; pagesRead: number; at: (row: number) => number } {
  const ends: { row: number; end: number }[] = [];
  let [start, written, pagesRead] = [0, 0, 0];
  for (let row = 0; row < events.count; row++) {
    const op = events.op[row];
    if (
      (op !== Op.xRead && op !== Op.xWrite && op !== Op.xTruncate) ||
      events.result[row] !== Rc.ok
    )
      continue;
    const d = definitions.get(events.object[row]!);
    if (d?.kind !== 'file' || d.fileKind !== 'main-db' || databaseName(d.path) !== database)
      continue;
    const end = events.offset[row]! + (op === Op.xTruncate ? 0 : events.length[row]!);
    if (op === Op.xRead && events.context[row] === context && events.length[row]! >= SMALLEST_PAGE)
      pagesRead++;
    if (op === Op.xRead && end > written) start = Math.max(start, end);
    else if (op === Op.xRead) continue;
    else written = op === Op.xTruncate ? end : Math.max(written, end);
    ends.push({ row, end: Math.max(written, op === Op.xTruncate ? 0 : start) });
  }
  let next = 0;
  let now = 0;
  return {
    start,
    pagesRead,
    at: (row) => {
      for (; next < ends.length && ends[next]!.row <= row; next++) now = ends[next]!.end;
      return now;
    },
  };
}
