/** Question and answer of where statements run on the timeline. */
import type { Scope } from '../../analysis/core/scope.ts';
import type { EventRef } from '../../trace/store.ts';

/** Of the statement that an event serves, or of those that the panel's filter takes. */
export type MarksArgs = {
  fromUs: number;
  toUs: number;
  /** Pixel columns: what lies closer together is one mark. */
  width: number;
} & (EventRef | Pick<Scope, 'statement' | 'table'>);

export interface StatementMarks {
  /** Of the statements, on all threads and in the whole recording. */
  executions: number;
  lanes: {
    lane: string;
    /** Begin and end of each mark, microseconds. */
    ranges: Float64Array;
  }[];
}
