/** Questions and answers of the timeline. */
import type { PartTimes } from '../../analysis/core/time-parts.ts';
import type { AreaRow } from '../../analysis/time/area.ts';
import type { Annotations } from '../../trace/notes.ts';

export interface AreaLine extends AreaRow {
  /**
   * Microseconds of the time while SQL runs that its calls decide, those in them left out; of a statement all that it decides. null = no thread
   * runs SQL, such calls take no time of a thread, or their file is unknown.
   */
  selfUs: number | null;
}
export interface AreaAnswer {
  rows: AreaLine[];
  /** Where the time of the chosen threads with SQL went, summed; null where that is not computed yet of one of them, or no thread runs SQL. */
  times: PartTimes | null;
  /** The threads chosen that run SQL: those in the sum. */
  sqlThreads: number;
}

export interface AnnotationsAnswer extends Annotations {
  /** Another number for another trace. */
  trace: number;
}
