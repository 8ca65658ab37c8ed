/** Questions and answers about a statement on the Query view. */
import type { Cell } from '../../analysis/core/table.ts';

export interface RunResult {
  columns: string[];
  rows: Cell[][];
  /** There are more rows than requested. */
  more: boolean;
  /** Statements that ran. */
  statements: number;
  ms: number;
}
