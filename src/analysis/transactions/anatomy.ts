/** What is said of one transaction; transaction-anatomy.ts finds it out, anatomy-table.ts keeps it. */
import type { TransactionTimes } from './transaction-time.ts';
import type { Transaction } from './transaction-table.ts';

/** One lock level. Microseconds; null = refused, or not given back before the transaction's end. */
export interface LadderStep {
  askedUs: number;
  grantedUs: number | null;
  leftUs: number | null;
  /** SQLITE_BUSY answers before it was granted. */
  busy: number;
}

export interface TransactionAnatomy {
  transaction: Transaction;
  /** From the lock that it took first (or, where locks are kept, the statement that it began with) to the last unlock. */
  fromUs: number;
  toUs: number;
  /** By lock level 1..4; null = not asked for: kept from before, or taken inside the VFS. */
  ladder: (LadderStep | null)[];
  /** null where the statements' texts are not known. */
  mode: 'autocommit' | 'explicit' | null;
  /** Rows of the BEGIN and COMMIT (or ROLLBACK) calls; -1 where there are none. */
  beginStatementRow: number;
  endStatementRow: number;
  /** Executions, BEGIN and COMMIT included; null where no SQL call was recorded. Rows of their first calls. */
  statements: number | null;
  statementRows: number[];
  /** Distinct pages, by place in the file; pages written to a WAL by frame header, null where those were not decoded. */
  pagesRead: number;
  pagesWritten: number | null;
  dbBytes: number;
  journalBytes: number;
  walBytes: number;
  syncs: number;
  busyRetries: number;
  /** Sums to toUs - fromUs. */
  time: TransactionTimes;
  /** What SQLite's wasm executed from its first call to its last; null where that was not counted. */
  instructions: number | null;
  /** What the commit cost; null where nothing was committed. */
  /** `us`: what it took, idle time left out. */
  commit: {
    fromUs: number;
    toUs: number;
    us: number;
    time: TransactionTimes;
    instructions: number | null;
  } | null;
}
