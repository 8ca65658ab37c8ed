/** The columns of what other settings would cost. */
import { formatDuration, formatExact, UNKNOWN } from '../../text/numbers.ts';
import { col, type Columns } from '../core/table.ts';
import { HOT_US } from '../wal/checkpoints.ts';
import type { ChoiceRow } from './checkpoint-choices.ts';

const distance = (frames: number): string => (frames === 0 ? 'off' : formatExact(frames));

/** What another wal_autocheckpoint would cost: for the WAL view and the Lab. */
export const choiceColumns = {
  autocheckpoint: {
    ...col<ChoiceRow>(
      'count',
      'wal_autocheckpoint',
      'Frames at which a commit runs a checkpoint; off = no automatic checkpoints. Values with equal counts share a row',
      (c) => c.autocheckpoint,
    ),
    text: ({ autocheckpoint, last, recordedAt }) => {
      const isOne = autocheckpoint === last;
      const range = isOne ? distance(last) : `${distance(autocheckpoint)} to ${distance(last)}`;
      if (recordedAt === null) return range;
      return `${range} (${isOne ? 'recorded' : `recorded: ${distance(recordedAt)}`})`;
    },
  },
  checkpoints: col('count', 'Checkpoints', 'Those that copied something', (c) => c.checkpoints),
  frames: col(
    'count',
    'Frames',
    'Appended to the log. Where commits fill sectors, their number depends on where the log begins again',
    (c) => c.frames,
  ),
  writes: col(
    'count',
    'Database writes',
    'Pages that checkpoints write: each once, however often it was written between two checkpoints',
    (c) => c.dbWrites,
  ),
  runs: col(
    'count',
    'Runs',
    'As many writes as it could be if a checkpoint wrote neighboring pages at once. SQLite does not',
    (c) => c.runs,
  ),
  wal_reads: col('count', 'Log reads', 'Pages that checkpoints read', (c) => c.copyReads),
  hot_reads: col(
    'count',
    'Hot reads',
    `Of these, pages written less than ${formatDuration(HOT_US)} before, by the recording's times: a checkpoint that asks SQLite's page cache would not read them. SQLite reads them`,
    (c) => c.hotReads,
  ),
  statement_reads: {
    ...col<ChoiceRow>(
      'count',
      'Statement reads',
      'Pages that statements read, from the log + from the database. The sum stays the same',
      (c) => c.logReads + c.dbReads,
    ),
    text: (c) => `${formatExact(c.logReads)} + ${formatExact(c.dbReads)}`,
  },
  syncs: {
    ...col<ChoiceRow>(
      'count',
      'Syncs',
      'Of the log + of the database. n/a: nothing in the recording shows whether a checkpoint syncs',
      (c) => (c.walSyncs === null || c.dbSyncs === null ? null : c.walSyncs + c.dbSyncs),
    ),
    text: ({ walSyncs, dbSyncs }) =>
      walSyncs === null || dbSyncs === null
        ? UNKNOWN
        : `${formatExact(walSyncs)} + ${formatExact(dbSyncs)}`,
  },
  largest: col('count', 'Max frames', 'In the log at once', (c) => c.largest),
} satisfies Columns<ChoiceRow>;
