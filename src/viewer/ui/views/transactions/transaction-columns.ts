/** Words and colours of a transaction's parts, and the columns of the table of transactions. */
import type { EventRef } from '../../../../trace/store.ts';
import {
  TRANSACTION_PARTS,
  type TransactionPart,
  type TransactionTimes,
} from '../../../../analysis/transactions/transaction-time.ts';
import type { Column } from '../../parts/columns.ts';
import type { Segment } from '../../parts/segments.ts';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatMeasured,
  formatMoment,
  formatShare,
} from '../../../../text/numbers.ts';
import type { TransactionLine, TransactionLines } from '../../../session/queries/transactions.ts';

export const TRANSACTION_WORDS: Record<
  TransactionPart,
  { title: string; color: string; meaning: string }
> = {
  lock: {
    title: 'Lock',
    color: '--activity-lock',
    meaning: 'taking locks, waiting for them included',
  },
  dbRead: {
    title: 'Database read',
    color: '--activity-read',
    meaning: 'reading pages of the database',
  },
  journalRead: {
    title: 'Journal read',
    color: '--activity-read',
    meaning: 'reading the rollback journal',
  },
  walRead: { title: 'WAL read', color: '--activity-read', meaning: 'reading frames of the WAL' },
  journalWrite: {
    title: 'Journal write',
    color: '--journal',
    meaning: 'writing, cutting or deleting the rollback journal',
  },
  walWrite: { title: 'WAL write', color: '--journal', meaning: 'writing frames to the WAL' },
  dbWrite: {
    title: 'Database write',
    color: '--activity-write',
    meaning: 'writing pages of the database',
  },
  sync: { title: 'Sync', color: '--activity-sync', meaning: 'waiting until writes are durable' },
  idbComplete: {
    title: 'IDB complete',
    color: '--activity-idb',
    meaning: 'waiting for an IndexedDB transaction to complete',
  },
  unlock: { title: 'Unlock', color: '--activity-lock', meaning: 'giving locks back' },
  otherVfs: {
    title: 'Other VFS',
    color: '--activity-meta',
    meaning: 'file sizes, file controls, other files',
  },
  cpu: { title: 'CPU', color: '--activity-cpu', meaning: 'SQLite computing' },
  idle: { title: 'Idle inside', color: '--activity-none', meaning: 'locks held, no SQL in flight' },
};

export const segmentsOf = (time: TransactionTimes): Segment[] =>
  TRANSACTION_PARTS.map((part) => ({ ...TRANSACTION_WORDS[part], us: time[`${part}Us`] }));

/** All commits together, in words; idle time inside them is no part of it. */
export function commitsText({
  commits,
  spanUs,
  time,
  inSqlUs,
}: TransactionLines['commits']): string {
  const us = spanUs - time.idleUs;
  const share = inSqlUs
    ? `${formatShare(us / inSqlUs)} of the time with SQL in flight`
    : 'which share of the time is n/a';
  return `${formatCount(commits)} commit${commits === 1 ? '' : 's'} took ${formatDuration(us)}, ${share}; ${formatDuration(us / commits)} each`;
}

const duration = (us: number | null, { stepUs }: TransactionLine): string =>
  us === null ? '' : formatMeasured(us, stepUs);

export const transactionKey = ({ thread, seq }: EventRef): string => `${thread}:${seq}`;

export const COLUMNS: readonly Column<TransactionLine>[] = [
  {
    key: 'fromUs',
    title: 'Begin',
    definition: 'First lock, or the statement that it began with',
    numeric: true,
    value: (t) => t.fromUs,
    text: (t) => formatMoment(t.fromUs),
    width: '104px',
  },
  {
    key: 'kind',
    title: 'Kind',
    definition: 'Whether anything was written',
    value: (t) => t.kind,
    width: '56px',
  },
  {
    key: 'durationUs',
    title: 'Duration',
    definition: 'From its first lock to its last unlock',
    numeric: true,
    value: (t) => t.durationUs,
    text: (t) => duration(t.durationUs, t),
    width: '82px',
  },
  {
    key: 'commitUs',
    title: 'Commit',
    definition: 'What making it durable took. Empty: nothing was committed',
    numeric: true,
    value: (t) => t.commitUs,
    text: (t) => duration(t.commitUs, t),
    width: '82px',
  },
  {
    key: 'waterfall',
    title: 'Over time',
    definition:
      'When it ran, in the time of all that are listed: reading (blue) or writing (orange), its commit at the end (magenta); grey: rolled back',
    value: (t) => t.fromUs,
    text: (t) => formatMoment(t.fromUs),
    width: '190px',
  },
  {
    key: 'mode',
    title: 'Mode',
    definition:
      'autocommit: a statement of its own; explicit: BEGIN to COMMIT. n/a: the texts of the statements are not known',
    value: (t) => t.mode,
    width: '98px',
  },
  {
    key: 'outcome',
    title: 'Outcome',
    definition: 'And what made it durable',
    value: (t) => t.outcome,
    text: (t) => (t.commitPoint ? `${t.outcome}: ${t.commitPoint}` : t.outcome),
    width: '196px',
  },
  {
    key: 'statements',
    title: 'Statements',
    definition: 'Executions inside it. n/a: SQL was not recorded',
    numeric: true,
    value: (t) => t.statements,
    text: (t) => formatCount(t.statements),
    width: '86px',
  },
  {
    key: 'pagesRead',
    title: 'Pages read',
    definition: 'Distinct pages of the database',
    numeric: true,
    value: (t) => t.pagesRead,
    text: (t) => formatCount(t.pagesRead),
    width: '86px',
  },
  {
    key: 'pagesWritten',
    title: 'Pages written',
    definition:
      'Distinct pages written to database or WAL. n/a: WAL frames without decoded headers',
    numeric: true,
    value: (t) => t.pagesWritten,
    text: (t) => formatCount(t.pagesWritten),
    width: '102px',
  },
  {
    key: 'bytesWritten',
    title: 'Bytes written',
    definition: 'To database, journal and WAL',
    numeric: true,
    value: (t) => t.bytesWritten,
    text: (t) => (t.bytesWritten ? formatBytes(t.bytesWritten) : '0'),
    width: '98px',
  },
  {
    key: 'syncs',
    title: 'Syncs',
    numeric: true,
    definition: 'xSync calls',
    value: (t) => t.syncs,
    text: (t) => formatCount(t.syncs),
    width: '60px',
  },
  {
    key: 'busyRetries',
    title: 'Busy',
    definition: 'SQLITE_BUSY answers to its locks',
    numeric: true,
    value: (t) => t.busyRetries,
    text: (t) => formatCount(t.busyRetries),
    width: '56px',
  },
  {
    key: 'idleUs',
    title: 'Idle inside',
    definition: 'Locks held while no SQL was in flight',
    numeric: true,
    value: (t) => t.idleUs,
    text: (t) => (t.idleUs ? duration(t.idleUs, t) : '0'),
    width: '86px',
  },
  { key: 'path', title: 'Database', value: (t) => t.path, mono: true, width: '150px' },
  { key: 'thread', title: 'Thread', value: (t) => t.threadTitle, width: '1fr' },
];
