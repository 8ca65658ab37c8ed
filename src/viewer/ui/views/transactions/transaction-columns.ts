/** Words and colors of a transaction's parts, and the columns of the table of transactions. */
import type { EventRef } from '../../../../trace/store.ts';
import {
  TRANSACTION_PARTS,
  type TransactionPart,
  type TransactionTimes,
} from '../../../../analysis/transactions/transaction-time.ts';
import {
  transactionColumns,
  type TransactionLine,
} from '../../../../analysis/transactions/table.ts';
import { PART_WORDS } from '../../../../analysis/core/time-parts.ts';
import { viewColumns, type Column, type Own } from '../../parts/columns.ts';
import { partWords, type Segment } from '../../parts/segments.ts';
import {
  countOf,
  formatBytes,
  formatDuration,
  formatMeasured,
  formatMoment,
  formatShare,
} from '../../../../text/numbers.ts';
import type { TransactionSum } from '../../../../protocol/answers/transactions.ts';

export const TRANSACTION_WORDS: Record<TransactionPart, Omit<Segment, 'us'>> = {
  lock: partWords('Lock', '--activity-lock', 'taking locks, waiting for them included'),
  dbRead: partWords('Database read', '--activity-read', 'reading pages of the database'),
  journalRead: partWords('Journal read', '--activity-read', 'reading the rollback journal'),
  walRead: partWords('WAL read', '--activity-read', 'reading frames of the WAL'),
  journalWrite: partWords(
    'Journal write',
    '--journal',
    'writing, cutting, or deleting the rollback journal',
  ),
  walWrite: partWords('WAL write', '--journal', 'writing frames to the WAL'),
  dbWrite: partWords('Database write', '--activity-write', 'writing pages of the database'),
  sync: partWords('Sync', '--activity-sync', 'xSync calls: waiting until writes are durable'),
  idbComplete: partWords(
    'IDB complete',
    '--activity-idb',
    'waiting for an IndexedDB transaction to complete',
  ),
  unlock: partWords('Unlock', '--activity-lock', 'giving locks back'),
  otherVfs: partWords(
    'Other VFS calls',
    '--activity-meta',
    'file sizes, file controls, and other files, where storage is used',
  ),
  cpu: partWords(PART_WORDS.cpu.title, '--activity-cpu', PART_WORDS.cpu.meaning),
  idle: partWords('Idle inside', '--activity-none', 'locks held while no SQL ran'),
};

export const segmentsOf = (time: TransactionTimes): Segment[] =>
  TRANSACTION_PARTS.map((part) => ({ ...TRANSACTION_WORDS[part], us: time[`${part}Us`] }));

/** Commits together, as text. */
export function commitsText({ commits, us, of, ofUs }: TransactionSum): string {
  const base = of === 'sql' ? 'the time while SQL runs' : "these transactions' time";
  const share = ofUs ? `${formatShare(us / ofUs)} of ${base}` : 'which share of the time is n/a';
  return `${countOf(commits, 'commit')} took ${formatDuration(us)}, ${share}; ${formatDuration(us / commits)} each`;
}

export const transactionKey = ({ thread, seq }: EventRef): string => `${thread}:${seq}`;

const MEASURED: Own<TransactionLine> = { stepUs: (t) => t.stepUs, none: '' };
const WATERFALL: Column<TransactionLine> = {
  key: 'waterfall',
  title: 'Over time',
  definition:
    'When it ran, in the time of all that are listed. Pale: it only read, or was rolled back. The dark end: its commit',
  value: (t) => t.fromUs,
  text: (t) => formatMoment(t.fromUs),
  width: 'minmax(100px, 190px)',
};
export const COLUMNS: readonly Column<TransactionLine>[] = [
  ...viewColumns(transactionColumns, {
    ts: {},
    kind: {},
    dur: MEASURED,
    commit_dur: MEASURED,
  }),
  WATERFALL,
  ...viewColumns(transactionColumns, {
    mode: {},
    outcome: { text: (t) => (t.commitPoint ? `${t.outcome}: ${t.commitPoint}` : t.outcome) },
    statements: {},
    pages_read: {},
    pages_written: {},
    bytes_written: { text: (t) => (t.bytesWritten ? formatBytes(t.bytesWritten) : '0') },
    syncs: {},
    busy: {},
    instructions: {},
    commit_instructions: {},
    idle_dur: { text: (t) => (t.idleUs ? formatMeasured(t.idleUs, t.stepUs) : '0') },
    path: '150px',
    thread: { value: (t) => t.threadTitle, width: 'minmax(110px, 1fr)' },
  }),
];
