/** Questions and answers of the Query view. */
import type { RunResult } from './sql-result.ts';
import type { SqlColumn } from './sql-columns.ts';

export interface SqlTableInfo {
  name: string;
  help: string;
  columns: SqlColumn[];
}

export interface SqlRequest {
  /** Identifies the run for `sqlCancel`. */
  id: number;
  sql: string;
  /** The run is stopped after this time. */
  maxMs: number;
  /**
   * Shared memory, where the platform has it: a 1 in the first place cancels at once. Else null.
   */
  stop: Int32Array | null;
}

export type SqlAnswer = RunResult;
