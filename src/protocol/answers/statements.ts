/** Questions and answers of the Statements view. */
import type { RunHistogram } from '../../analysis/statements/run-histogram.ts';
import type { RunScope } from '../../analysis/statements/run-scope.ts';
import type { StatementTable } from '../../analysis/statements/statement-table.ts';

/** Which runs of which statement, by fingerprint; null = not known. */
export interface RunsArgs extends RunScope {
  text: string | null;
}
export interface SlowRunsArgs extends RunsArgs {
  /** Only runs of these durations, microseconds: [from, to). */
  between: { from: number; to: number } | null;
}

/** Runs of one statement as columns, in order of thread and time. */
export interface StatementRuns {
  thread: Uint16Array;
  /** Sequence number of the first call. */
  seq: Uint32Array;
  fromUs: Float64Array;
  /** Sum of its calls, microseconds. */
  us: Float64Array;
  /** One of ExecutionState. */
  state: Uint8Array;
  /** Total runs. If there are too many, the arrays hold every n-th. */
  total: number;
  shown: number;
  /** Sum over all runs that ended, and their median; null = none has ended. */
  histogram: RunHistogram;
  medianUs: number | null;
}

/** The table, and the coarsest step of the threads' clocks; null = not known. */
export interface MeasuredStatements extends StatementTable {
  stepUs: number | null;
}
