/** The tables of statements by fingerprint, and of their runs. */
import { opName } from '../../event/operations.ts';
import { objectName } from '../../trace/describe.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { hitRate } from '../core/counter-deltas.ts';
import {
  executions,
  ExecutionState,
  type Executions,
  type QueryCounts,
} from '../core/executions.ts';
import { THREAD } from '../events/table.ts';
import { fact } from '../core/graph.ts';
import { instructions, NOT_COUNTED, type CallInstructions } from '../core/instructions.ts';
import { ioTime } from '../core/time-parts.ts';
import { col, inParts, rowsIn, table, type Columns } from '../core/table.ts';
import type { CallsBy } from './statement-entry.ts';
import type { Frame } from './flame-graph.ts';
import { statementTable as byText, type StatementRow } from './statement-table.ts';

const NO_VFS = 'n/a: no VFS call was recorded on its threads';
const NO_COUNTERS = "n/a: this engine shows no counters, or they can't be attributed to it";

const callsBy = (kind: keyof CallsBy, title: string, what: string) =>
  col('count', title, `${what}. ${NO_VFS}`, (s: StatementRow) => s.callsBy && s.callsBy[kind]);

const NO_QUERY = 'n/a: the build lacks sqlite3_stmt_status, or the recording leaves it out';
const queryCount = (name: keyof QueryCounts, title: string, what: string) =>
  col(
    'count',
    title,
    `${what}, by SQLite's own counters, in the runs that have them. ${NO_QUERY}`,
    ({ query }: StatementRow) => query && query[name],
  );

export const statementColumns = {
  fingerprint: col(
    'code',
    'Statement',
    'Its text with literals folded and one spelling; null: the text was not seen, or opening and closing',
    (s) => s.text,
  ),
  truncated: col('int', 'Cut', '1: the text was cut; others may begin the same', (s) =>
    Number(s.truncated),
  ),
  share: col(
    'share',
    '% of SQL',
    'Share of the time while SQL runs that the statement decides. Shares sum to 100 %',
    (s) => s.share,
  ),
  dur: col(
    'us',
    'Time',
    'Time while SQL runs that the statement decides: CPU, read, write, sync, IDB transaction, lock calls, lock wait',
    (s) => s.time.spanUs,
  ),
  io: col('us', 'I/O', 'Of its time storage I/O: read, write, sync, IndexedDB transactions', (s) =>
    ioTime(s.time),
  ),
  executions: col(
    'count',
    'Runs',
    'How often it ran: from the first step to done, reset or finalize',
    (s) => s.executions,
  ),
  total: col(
    'us',
    'Run time',
    'Its step and exec calls, summed up. Opening, prepare, reset and finalize are in its total time only',
    (s) => s.totalUs,
  ),
  mean: col('us', 'Mean', 'Of one run', (s) => s.meanUs),
  p50: col('us', 'p50', 'Half of its runs took no longer', (s) => s.p50Us),
  p95: col('us', 'p95', '95 of 100 runs took no longer', (s) => s.p95Us),
  max: col('us', 'Max', 'Its longest run', (s) => s.maxUs),
  rows: col('count', 'Rows', 'Steps that brought a row', (s) => s.rows),
  vfs_calls: col(
    'count',
    'VFS calls',
    `Under step, exec, reset and finalize. ${NO_VFS}`,
    (s) => s.vfsCalls,
  ),
  vfs_reads: callsBy('read', 'Reads', 'xRead calls among them'),
  vfs_writes: callsBy('write', 'Writes', 'xWrite calls among them'),
  vfs_syncs: callsBy('sync', 'Syncs', 'xSync calls among them'),
  vfs_locks: callsBy('lock', 'Locks', 'xLock calls among them'),
  pages_read: col(
    'count',
    'Page reads',
    `Page reads of databases and WAL. ${NO_VFS}`,
    ({ pages }) => pages && pages.read + pages.walRead,
  ),
  pages_written: col(
    'count',
    'Page writes',
    `Page writes to databases and WAL. ${NO_VFS}`,
    ({ pages }) => pages && pages.written + pages.walWritten,
  ),
  hits: col(
    'count',
    'Cache hits',
    `Pages found in SQLite's page cache. ${NO_COUNTERS}`,
    (s) => s.cache?.hits ?? null,
  ),
  misses: col(
    'count',
    'Misses',
    `Pages read through the VFS, for SQLite's page cache had none. ${NO_COUNTERS}`,
    (s) => s.cache?.misses ?? null,
  ),
  hit_rate: col(
    'share',
    'Hit rate',
    `Hits of all page requests. n/a: it requested no page. ${NO_COUNTERS}`,
    ({ cache }) => cache && hitRate(cache),
  ),
  spills: col(
    'count',
    'Spills',
    `Pages written early, to make room in the middle of a transaction. ${NO_COUNTERS}`,
    (s) => s.cache?.spills ?? null,
  ),
  failed: col('count', 'Failed', 'Executions that ended with an error', (s) => s.failed),
  scanned: queryCount('scanned', 'Scanned', 'Rows that it stepped over in full scans of a table'),
  sorts: queryCount('sorts', 'Sorts', 'Times that it sorted rows in a temporary b-tree'),
  auto_index_rows: queryCount(
    'autoIndexRows',
    'Auto-index',
    'Rows put into indexes that SQLite built only for one run',
  ),
  vm_steps: queryCount('vmSteps', 'VM steps', "Instructions of SQLite's virtual machine"),
  reprepares: queryCount(
    'reprepares',
    'Reprepares',
    'Times that it was prepared again, for the schema or a value had changed',
  ),
  filter_hits: queryCount('filterHits', 'Filter hits', 'Join steps that a Bloom filter spared'),
  filter_misses: queryCount(
    'filterMisses',
    'Filter misses',
    'Join steps that a Bloom filter let pass',
  ),
  instructions: col(
    'count',
    'Instructions',
    `Executed by SQLite's wasm in its calls, prepare to finalize. ${NOT_COUNTED}`,
    (s) => s.instructions,
  ),
  memory: col(
    'bytes',
    'Memory',
    `Of one prepared statement, the most seen. ${NO_QUERY}`,
    (s) => s.memory,
  ),
} satisfies Columns<StatementRow>;

/** Of the flame graph. */
export const frameColumns = {
  name: col(
    'code',
    'Statement or call',
    'A statement, a VFS call by kind of file, or a storage call',
    (f) => f.name,
  ),
  total: col(
    'us',
    'Total time',
    'Time while SQL runs that it and the calls in it decide. Of a statement the same as in Statements',
    (f) => f.totalUs,
  ),
  self: col(
    'us',
    'Self time',
    'Total time without the calls in it. Where calls overlap, each moment counts once',
    (f) => f.selfUs,
  ),
  calls: col(
    'count',
    'Calls',
    'Calls that began in the range; runs of a statement',
    (f) => f.calls,
  ),
} satisfies Columns<Frame>;

const statementRows = rowsIn('statementRows', byText, (table) => table?.rows ?? []);
const statementTable = table(
  'statements',
  'Statements by fingerprint, the longest time first',
  statementRows,
  statementColumns,
);

const STATES = Object.keys(ExecutionState);

interface Execution {
  thread: ThreadStore;
  all: Executions;
  i: number;
}
const executionRows = fact('executionRows', 'executions', { executions }, ({ threads }, known) => {
  const parts = threads.map((thread): Execution => ({
    thread,
    all: known.executions.of(thread),
    i: 0,
  }));
  return inParts(
    parts.map(({ all }) => all.count),
    (part, i) => Object.assign(parts[part]!, { i }),
  );
});
const runCount = (name: keyof QueryCounts, title: string, what: string) =>
  col('count', title, `${what}. ${NO_QUERY}`, ({ all, i }: Execution) =>
    all.counted[i] ? all[name][i]! : null,
  );
const executionTable = table(
  'executions',
  'Runs of statements: from a first step to the last',
  executionRows,
  {
    thread: col('int', 'Thread', THREAD, (e) => e.thread.index),
    seq: col('id', 'Event', 'Its first call', (e) => e.thread.events.seq[e.all.firstRow[e.i]!]!),
    ts: col('moment', 'Begin', 'Of that call', (e) => e.thread.events.t0[e.all.firstRow[e.i]!]!),
    dur: col('us', 'Duration', 'Sum of its calls', (e) => e.all.us[e.i]!),
    rows: col('count', 'Rows', 'Steps that brought a row', (e) => e.all.rows[e.i]!),
    state: col(
      'text',
      'State',
      'done, rowsLeft, failed or running',
      (e) => STATES[e.all.state[e.i]!] ?? null,
    ),
    statement_id: col(
      'id',
      'Statement',
      'object_id of its text in objects, by thread',
      (e) => e.all.text[e.i]! || null,
    ),
    statement: col(
      'code',
      'Statement',
      'Its text, literals folded',
      (e) => (e.all.text[e.i] ? objectName(e.thread, e.all.text[e.i]!) : '') || null,
    ),
    scanned: runCount('scanned', 'Scanned', 'Rows stepped over in full scans'),
    sorts: runCount('sorts', 'Sorts', 'Sorts in a temporary b-tree'),
    auto_index_rows: runCount('autoIndexRows', 'Auto-index', 'Rows put into automatic indexes'),
    vm_steps: runCount('vmSteps', 'VM steps', "Instructions of SQLite's virtual machine"),
    reprepares: runCount('reprepares', 'Reprepares', 'Times that it was prepared again'),
    filter_hits: runCount('filterHits', 'Filter hits', 'Join steps that a Bloom filter spared'),
    filter_misses: runCount('filterMisses', 'Filter misses', 'Join steps that it let pass'),
  },
);

interface CountedCall {
  thread: ThreadStore;
  all: CallInstructions;
  i: number;
}
const countedCalls = fact(
  'countedCalls',
  'instructions of calls',
  { instructions },
  ({ threads }, known) => {
    const parts = threads.map((thread): CountedCall => ({
      thread,
      all: known.instructions.of(thread),
      i: 0,
    }));
    return inParts(
      parts.map(({ all }) => all.count),
      (part, i) => Object.assign(parts[part]!, { i }),
    );
  },
);
const instructionTable = table(
  'instructions',
  "Instructions of each call of SQLite and its VFS; empty where they weren't counted",
  countedCalls,
  {
    thread: col('int', 'Thread', THREAD, (c) => c.thread.index),
    seq: col('id', 'Event', 'The call', (c) => c.thread.events.seq[c.all.row[c.i]!]!),
    op: col('text', 'Operation', 'Its name', (c) => opName(c.thread.events.op[c.all.row[c.i]!]!)),
    executed: col(
      'count',
      'Executed before',
      "By the thread's engines, from their instantiation to the begin of the call",
      (c) => c.all.first[c.i]!,
    ),
    instructions: col(
      'count',
      'Instructions',
      'From its begin to its end, those of the calls in it included',
      (c) => c.all.own[c.i]!,
    ),
    gap: col(
      'count',
      'Gap before',
      'Between the begin or end of a call before it and its own begin',
      (c) => c.all.gap[c.i]!,
    ),
  },
);

export const statementTables = [statementTable, executionTable, instructionTable];
