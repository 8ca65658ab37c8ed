/** Questions and answers of a statement on the Query view. */
import type { Cell } from '../../analysis/core/table.ts';

export interface RunResult {
  columns: string[];
  rows: Cell[][];
  /** There are more rows than were asked for. */
  more: boolean;
  /** Statements that ran. */
  statements: number;
  ms: number;
}
