/**
 * The data of one transaction. transaction-anatomy.ts computes it, and anatomy-table.ts stores it.
 */
import type { TransactionTimes } from './transaction-time.ts';
import type { Transaction } from './transaction-table.ts';

/** One lock level. Microseconds; null = refused, or not released before the transaction's end. */
export interface LadderStep {
  askedUs: number;
  grantedUs: number | null;
  leftUs: number | null;
  /** SQLITE_BUSY answers before it was granted. */
  busy: number;
}

export interface TransactionAnatomy {
  transaction: Transaction;
  /** From its first lock (or, if locks are kept, its first statement) to the last unlock. */
  fromUs: number;
  toUs: number;
  /** By lock level 1..4; null = not requested: kept from before, or taken inside the VFS. */
  ladder: (LadderStep | null)[];
  /** null if the statements' texts aren't known. */
  mode: 'autocommit' | 'explicit' | null;
  /** Rows of the BEGIN and COMMIT (or ROLLBACK) calls; -1 if there are none. */
  beginStatementRow: number;
  endStatementRow: number;
  /**
   * Executions, including BEGIN and COMMIT; null if no SQL call was recorded. Rows of their first
   * calls.
   */
  statements: number | null;
  statementRows: number[];
  /**
   * Distinct pages, by position in the file. Pages written to a WAL are by frame header, or null if
   * those weren't decoded.
   */
  pagesRead: number;
  pagesWritten: number | null;
  dbBytes: number;
  journalBytes: number;
  walBytes: number;
  syncs: number;
  busyRetries: number;
  /** Sums to toUs - fromUs. */
  time: TransactionTimes;
  /**
   * Instructions of SQLite's wasm from its first call to its last; null if they weren't counted.
   */
  instructions: number | null;
  /** The cost of the commit; null if it didn't commit. */
  /** `us`: its time without idle time. */
  commit: {
    fromUs: number;
    toUs: number;
    us: number;
    time: TransactionTimes;
    instructions: number | null;
  } | null;
}
