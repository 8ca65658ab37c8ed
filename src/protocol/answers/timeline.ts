/** Questions and answers of the timeline. */
import type { PartTimes } from '../../analysis/core/time-parts.ts';
import type { AreaRow } from '../../analysis/time/area.ts';
import type { Annotations } from '../../trace/notes.ts';

export interface AreaAnswer {
  rows: AreaRow[];
  /** Where the time of the chosen threads with SQL went, summed; null where that is not computed yet of one of them, or no thread runs SQL. */
  times: PartTimes | null;
  /** The threads chosen that run SQL: those in the sum. */
  sqlThreads: number;
}

export interface AnnotationsAnswer extends Annotations {
  /** Another number for another trace. */
  trace: number;
}
