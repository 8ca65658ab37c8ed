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

/** Commits together, and the time that they are a part of. */
export interface TransactionSum extends CommitTotals {
  /** What `ofUs` is: all time while SQL runs; where a filter is set, the time of the transactions that it leaves. */
  of: 'sql' | 'transactions';
  /** Microseconds; null = not known. */
  ofUs: number | null;
}

/** A stretch of calls of one part, neighbors drawn as one where they are closer than a pixel. */
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
  /** All executions together. */
  us: number;
  /** First execution. */
  seq: number;
}

export interface TransactionDetails extends TransactionLine {
  toUs: number;
  ladder: (LadderStep | null)[];
  time: TransactionTimes;
  commit: TransactionAnatomy['commit'];
  /** Executions inside it, all of them: neighbors drawn as one where they are closer than a pixel. */
  executions: ExecutionRun[];
  /** The same by statement, the most time first, at most 500 of them. */
  statementList: StatementShare[];
  /** Statements that it executed. */
  distinct: number;
  dbBytes: number;
  journalBytes: number;
  walBytes: number;
  runs: CallRun[];
  /** Calls in `runs`, all together. */
  calls: number;
}
