/** Question and answer: where statements run on the timeline. */
import type { Scope } from '../../analysis/core/scope.ts';
import type { EventRef } from '../../trace/store.ts';

/**
 * Marks of the statement that an event serves, or of the statements that pass the panel's filter.
 */
export type MarksArgs = {
  fromUs: number;
  toUs: number;
  /** Pixel columns. Statements closer together than one column share a mark. */
  width: number;
} & (EventRef | Pick<Scope, 'statement' | 'table'>);

export interface StatementMarks {
  /** Totals of the statements, on all threads and in the entire recording. */
  executions: number;
  lanes: {
    lane: string;
    /** Begin and end of each mark, microseconds. */
    ranges: Float64Array;
  }[];
}
