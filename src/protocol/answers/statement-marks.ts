/** Question and answer of where a statement runs on the timeline. */
import type { EventRef } from '../../trace/store.ts';

export interface MarksArgs extends EventRef {
  fromUs: number;
  toUs: number;
  /** Pixel columns: what lies closer together is one mark. */
  width: number;
}

export interface StatementMarks {
  /** Of the statement, on all threads and in the whole recording. */
  executions: number;
  lanes: {
    lane: string;
    /** Begin and end of each mark, microseconds. */
    ranges: Float64Array;
  }[];
}
