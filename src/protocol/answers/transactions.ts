/** Questions and answers of the Transactions view. */
import type { TransactionLine } from '../../analysis/transactions/table.ts';
import type { CommitTotals } from '../../analysis/transactions/anatomy-table.ts';
import type {
  LadderStep,
  TransactionAnatomy,
} from '../../analysis/transactions/transaction-anatomy.ts';
import type {
  TransactionPart,
  TransactionTimes,
} from '../../analysis/transactions/transaction-time.ts';

export interface TransactionLines {
  rows: TransactionLine[];
  total: number;
}

/** Sum of the commits, and the time that it is a share of. */
export interface TransactionSum extends CommitTotals {
  /**
   * The meaning of `ofUs`: all time while SQL runs, or with a filter the time of the transactions
   * that pass it.
   */
  of: 'sql' | 'transactions';
  /** Microseconds; null = not known. */
  ofUs: number | null;
}

/** A time range of calls of one part. Ranges less than a pixel apart are drawn as one. */
export interface CallRun {
  part: TransactionPart;
  fromUs: number;
  toUs: number;
  calls: number;
  /** First call, and its name. */
  seq: number;
  name: string;
}

export interface ExecutionRun {
  fromUs: number;
  toUs: number;
  count: number;
  /** First execution, and its text. */
  seq: number;
  text: string;
}

export interface StatementShare {
  text: string;
  count: number;
  /** Total executions. */
  us: number;
  /** First execution. */
  seq: number;
}

export interface TransactionDetails extends TransactionLine {
  toUs: number;
  ladder: (LadderStep | null)[];
  time: TransactionTimes;
  commit: TransactionAnatomy['commit'];
  /** All executions inside it. Ranges less than a pixel apart are drawn as one. */
  executions: ExecutionRun[];
  /** The same by statement, the most time first, at most 500 of them. */
  statementList: StatementShare[];
  /** Statements that it executed. */
  distinct: number;
  dbBytes: number;
  journalBytes: number;
  walBytes: number;
  runs: CallRun[];
  /** Total calls in `runs`. */
  calls: number;
}
