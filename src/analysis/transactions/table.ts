/** The table of transactions. */
import type { EventRef, TraceStore } from '../../trace/store.ts';
import { threadTitles } from '../core/thread-titles.ts';
import { THREAD } from '../events/table.ts';
import { fact } from '../core/graph.ts';
import { NOT_COUNTED } from '../core/instructions.ts';
import { col, table, type Columns, type Rows } from '../core/table.ts';
import { anatomies, type TransactionAnatomy } from './transaction-anatomy.ts';
import type { Transaction } from './transactions.ts';

/** A transaction in short, named by its first event. */
export interface TransactionLine extends EventRef {
  /** seq of its last event. */
  lastSeq: number;
  threadTitle: string;
  path: string;
  /** 0 = not known. */
  connection: number;
  kind: Transaction['kind'];
  outcome: Transaction['outcome'];
  mode: TransactionAnatomy['mode'];
  commitPoint: Transaction['commitPoint'];
  fromUs: number;
  durationUs: number;
  /** Time of the commit; null if it didn't commit. */
  commitUs: number | null;
  idleUs: number;
  /** Step of the thread's clock; null = not known. */
  stepUs: number | null;
  pagesRead: number;
  pagesWritten: number | null;
  bytesWritten: number;
  syncs: number;
  statements: number | null;
  busyRetries: number;
  instructions: number | null;
  commitInstructions: number | null;
}

/** One plain literal, because there are tens of thousands. @param titles of the threads */
export function transactionLine(
  store: TraceStore,
  a: TransactionAnatomy,
  titles: readonly string[],
): TransactionLine {
  const t = a.transaction;
  const thread = store.threads[t.thread]!;
  return {
    thread: t.thread,
    seq: thread.events.seq[t.beginRow]!,
    lastSeq: thread.events.seq[t.endRow]!,
    threadTitle: titles[t.thread]!,
    path: t.path,
    connection: t.context,
    kind: t.kind,
    outcome: t.outcome,
    mode: a.mode,
    commitPoint: t.commitPoint,
    fromUs: a.fromUs,
    durationUs: a.toUs - a.fromUs,
    commitUs: a.commit?.us ?? null,
    idleUs: a.time.idleUs,
    stepUs: thread.environment?.clockStepUs ?? null,
    pagesRead: a.pagesRead,
    pagesWritten: a.pagesWritten,
    bytesWritten: a.dbBytes + a.journalBytes + a.walBytes,
    syncs: a.syncs,
    statements: a.statements,
    busyRetries: a.busyRetries,
    instructions: a.instructions,
    commitInstructions: a.commit?.instructions ?? null,
  };
}

export const transactionRows = fact(
  'transactionRows',
  'transactions',
  { anatomies },
  (store, { anatomies: all }): Rows<TransactionLine> => {
    const titles = threadTitles(store);
    return { count: all.length, at: (i) => transactionLine(store, all.at(i), titles) };
  },
);

const BEGIN =
  'From its first lock; if locks are held between transactions, from its first statement';
/** What makes a transaction one of this kind. */
export const TRANSACTION_KINDS = {
  read: 'took no lock to write, and wrote nothing',
  write: 'took a lock to write, or wrote',
} as const;

export const transactionColumns = {
  thread: col('int', 'Thread', THREAD, (t) => t.thread),
  seq: col('id', 'First event', 'Its first call', (t) => t.seq),
  last_seq: col('id', 'Last event', 'Its last call', (t) => t.lastSeq),
  ts: col('moment', 'Begin', BEGIN, (t) => t.fromUs),
  dur: col('us', 'Duration', `${BEGIN}, to its last unlock`, (t) => t.durationUs),
  path: col('code', 'Database', 'Path of the database', (t) => t.path),
  kind: col(
    'text',
    'Kind',
    `write: ${TRANSACTION_KINDS.write}; read: ${TRANSACTION_KINDS.read}`,
    (t) => t.kind,
  ),
  outcome: col('text', 'Outcome', 'committed, rolled back, or nothing written', (t) => t.outcome),
  commit_point: col('text', 'Commit point', 'What made it durable', (t) => t.commitPoint),
  connection: col('id', 'Connection', 'Connection on the thread', (t) => t.connection || null),
  mode: col(
    'text',
    'Mode',
    'autocommit: a single statement; explicit: BEGIN to COMMIT. n/a: the texts of the statements are not known',
    (t) => t.mode,
  ),
  commit_dur: col(
    'us',
    'Commit',
    'What making it durable took, idle time left out. Empty: nothing was committed',
    (t) => t.commitUs,
  ),
  idle_dur: col('us', 'Idle inside', 'Locks held while no SQL ran', (t) => t.idleUs),
  statements: col(
    'count',
    'Statements',
    'Executions inside it. n/a: SQL was not recorded',
    (t) => t.statements,
  ),
  pages_read: col('count', 'Pages read', 'Distinct pages of the database', (t) => t.pagesRead),
  pages_written: col(
    'count',
    'Pages written',
    'Distinct pages written to database or WAL. n/a: WAL frames without decoded headers',
    (t) => t.pagesWritten,
  ),
  bytes_written: col(
    'bytes',
    'Bytes written',
    'To database, journal, and WAL',
    (t) => t.bytesWritten,
  ),
  syncs: col('count', 'Syncs', 'xSync calls', (t) => t.syncs),
  busy: col('count', 'Busy', 'SQLITE_BUSY answers to its locks', (t) => t.busyRetries),
  instructions: col(
    'count',
    'Instructions',
    `Executed by SQLite's wasm from its first call to its last. ${NOT_COUNTED}`,
    (t) => t.instructions,
  ),
  commit_instructions: col(
    'count',
    'Commit instructions',
    `Of these, executed by its commit. ${NOT_COUNTED}`,
    (t) => t.commitInstructions,
  ),
} satisfies Columns<TransactionLine>;

export const transactionTables = [
  table(
    'transactions',
    'Transactions, detected from VFS calls',
    transactionRows,
    transactionColumns,
  ),
];
