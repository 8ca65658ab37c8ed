/**
 * What connections hold in memory, as SQLite itself reports it from time to time
 * (sqlite3_db_status).
 */
import { Op } from '../../event/event.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { col, inParts, table, type Columns } from '../core/table.ts';
import { fact, threadFact } from '../core/graph.ts';
import { rowsByOperation } from '../core/rows-by-operation.ts';
import { THREAD } from '../events/table.ts';
import { engineOfConnection } from './engine-readings.ts';
import { heldTable } from './held-files.ts';

/** Rows of a thread's readings, in order. */
const memoryReadings = threadFact(
  'memoryReadings',
  'memory',
  { rowsByOperation },
  (thread, known) => known.rowsByOperation.of(thread).of(Op.sqlMemory),
);

interface Reading {
  thread: ThreadStore;
  row: number;
  /** Id of its engine's definition; null = not known. */
  engine: number | null;
}
const NEEDS = { memoryReadings, engineOfConnection };
const readingRows = fact('memoryRows', 'memory', NEEDS, ({ threads }, known) => {
  const rows = threads.map((thread) => known.memoryReadings.of(thread));
  const one: Reading = { thread: threads[0]!, row: 0, engine: null };
  return inParts(
    rows.map(({ length }) => length),
    (part, i) => {
      const [thread, row] = [threads[part]!, rows[part]![i]!];
      const engine = known.engineOfConnection.of(thread)(thread.events.context[row]!);
      return Object.assign(one, { thread, row, engine });
    },
  );
});

export const memoryColumns = {
  thread: col('int', 'Thread', THREAD, (r) => r.thread.index),
  ts: col('moment', 'At', 'When it was read', ({ thread, row }) => thread.events.t0[row]!),
  connection_id: col(
    'id',
    'Connection',
    'As in events',
    ({ thread, row }) => thread.events.context[row]!,
  ),
  engine_id: col(
    'id',
    'Engine',
    'object_id of its engine in objects, by thread; null: not known',
    ({ engine }) => engine,
  ),
  wasm: col(
    'bytes',
    'Wasm memory',
    "The engine's whole memory, which never shrinks",
    ({ thread, row }) => thread.events.offset[row]!,
  ),
  page_cache: col(
    'bytes',
    'Page cache',
    'SQLITE_DBSTATUS_CACHE_USED of the connection',
    ({ thread, row }) => thread.events.length[row]!,
  ),
  schema: col(
    'bytes',
    'Schema',
    'SQLITE_DBSTATUS_SCHEMA_USED of the connection',
    ({ thread, row }) => thread.events.aux[row]!,
  ),
  statements: col(
    'bytes',
    'Prepared',
    'SQLITE_DBSTATUS_STMT_USED of the connection',
    ({ thread, row }) => thread.events.aux2[row] ?? 0,
  ),
} satisfies Columns<Reading>;
export const memoryTable = table(
  'memory',
  'What connections hold in memory, read four times a second at most',
  readingRows,
  memoryColumns,
);
export const memoryTables = [memoryTable, heldTable];
