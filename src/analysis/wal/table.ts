/** The tables of write-ahead logs and of their checkpoints. */
import { THREAD } from '../events/table.ts';
import { fact } from '../core/graph.ts';
import { col, rowsIn, table, type Columns } from '../core/table.ts';
import { checkpoints, HOT_US, type Checkpoint } from './checkpoints.ts';
import { formatDuration } from '../../text/numbers.ts';
import { walHistories, type WalHistory } from './wal.ts';

export interface CheckpointLine extends Checkpoint {
  /** seq of the first call. */
  seq: number;
}
export const checkpointLines = fact(
  'checkpointLines',
  'checkpoints',
  { checkpoints },
  ({ threads }, known): CheckpointLine[] =>
    known.checkpoints.map((c) => ({ ...c, seq: threads[c.thread]!.events.seq[c.fromRow]! })),
);

const NOT_DECODED = 'n/a: frame headers were not decoded';

export const checkpointColumns = {
  thread: col('int', 'Thread', THREAD, (c) => c.thread),
  seq: col('id', 'Event', 'First call', (c) => c.seq),
  ts: col('moment', 'Begin', 'Of its first call', (c) => c.fromUs),
  dur: col('us', 'Duration', 'To the end of its last call', (c) => c.toUs - c.fromUs),
  path: col('code', 'Database', 'Path of the database', (c) => c.path),
  trigger: col(
    'text',
    'Trigger',
    'Why it ran: a commit over the limit, a PRAGMA, closing, leaving WAL mode',
    (c) => c.trigger,
  ),
  mode: col(
    'text',
    'Mode',
    "n/a: the PRAGMA's argument was a literal, or no text was recorded",
    (c) => c.mode,
  ),
  frames: col('count', 'Frames', `In the log when it began. ${NOT_DECODED}`, (c) => c.framesInLog),
  pages: col('count', 'Pages', 'Distinct pages written to the database', (c) => c.pages),
  writes: col('count', 'Writes', 'Writes to the database', (c) => c.dbWrites),
  syncs: col('count', 'Syncs', 'Of the log and of the database', (c) => c.walSyncs + c.dbSyncs),
  statement: col('code', 'Paid by', 'The statement that it ran in', (c) => c.statement || null),
  runs: col(
    'count',
    'Runs',
    'Runs of adjacent writes: each could have been one write',
    (c) => c.runs,
  ),
  wal_reads: col('count', 'Log reads', 'Reads of the log', (c) => c.walReads),
  write_bytes: col('bytes', 'Bytes', 'Written to the database', (c) => c.dbBytes),
  hot_reads: col(
    'count',
    'Hot reads',
    `Pages read from the log less than ${formatDuration(HOT_US)} after they were written: likely still in SQLite's page cache. ${NOT_DECODED}`,
    (c) => c.hotReads,
  ),
  pages_left: col(
    'count',
    'Left',
    `Pages in the log that no checkpoint has copied into the database yet. ${NOT_DECODED}, or the log holds frames from before the recording`,
    (c) => c.pagesLeft,
  ),
  busy: col('count', 'Busy', 'Locks refused to its SQL call, from its begin on', (c) => c.busy),
} satisfies Columns<CheckpointLine>;

const checkpointRows = rowsIn('checkpointRows', checkpointLines, (lines) => lines);
const checkpointTable = table(
  'checkpoints',
  'Frames copied from a WAL into its database',
  checkpointRows,
  checkpointColumns,
);

/** A log, without its course over time. */
export interface WalLine extends Omit<WalHistory, 'series'> {
  checkpoints: number;
}
export const walLines = fact(
  'walLines',
  'write-ahead logs',
  { walHistories, checkpointLines },
  (_, { walHistories, checkpointLines }): WalLine[] =>
    walHistories.map(({ series: _series, ...wal }) => ({
      ...wal,
      checkpoints: checkpointLines.filter(({ path }) => path === wal.path).length,
    })),
);

export const walColumns = {
  path: col('code', 'Database', 'Path of the database', (w) => w.path),
  commits: col(
    'count',
    'Commit frames',
    `Without padding; one whose sync failed commits nothing. ${NOT_DECODED}`,
    (w) => w.commits,
  ),
  frames: col('count', 'Frames', `Appended in all. ${NOT_DECODED}`, (w) => w.frames),
  write_bytes: col('bytes', 'Written', 'To the log', (w) => w.bytesWritten),
  page_size: col('bytes', 'Page size', 'Of the database', (w) => w.pageSize),
  largest_bytes: col('bytes', 'Largest', 'The log at its longest', (w) => w.highWaterBytes),
  restarts: col(
    'count',
    'Restarts',
    'Restarted from its first byte, with the file as long as before',
    (w) => w.restarts,
  ),
  truncations: col('count', 'Truncations', 'Cut to nothing, or deleted', (w) => w.truncations),
  syncs: col('count', 'Syncs', 'Of the log', (w) => w.syncs),
  checkpoints: col(
    'count',
    'Checkpoints',
    'Frames copied back into the database',
    (w) => w.checkpoints,
  ),
  longest_growth: col(
    'count',
    'Max frames',
    `Frames without a restart or cut. ${NOT_DECODED}`,
    (w) => w.longestGrowthFrames,
  ),
} satisfies Columns<WalLine>;

const walRows = rowsIn('walRows', walLines, (lines) => lines);
const walTable = table('wals', 'Write-ahead logs of databases', walRows, walColumns);

export const walTables = [walTable, checkpointTable];
