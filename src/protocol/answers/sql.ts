/** Questions and answers of the Query view. */
import type { RunResult } from './sql-result.ts';
import type { SqlColumn } from './sql-columns.ts';

export interface SqlTableInfo {
  name: string;
  help: string;
  columns: SqlColumn[];
}

export interface SqlRequest {
  /** Names the run, for `sqlCancel`. */
  id: number;
  sql: string;
  /** Stopped after that. */
  maxMs: number;
  /** 1 at its first place cancels at once, where memory can be shared; null elsewhere. */
  stop: Int32Array | null;
}

export type SqlAnswer = RunResult;
