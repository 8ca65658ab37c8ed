/** Questions and answers of the timeline. */
import type { PartTimes } from '../../analysis/core/time-parts.ts';
import type { AreaRow } from '../../analysis/time/area.ts';
import type { Annotations } from '../../trace/notes.ts';

export interface AreaLine extends AreaRow {
  /**
   * Microseconds of the time while SQL runs that its calls account for, including the calls inside
   * them; for a statement, its whole time. null = no thread runs SQL, such calls take no thread
   * time, or their file is unknown.
   */
  selfUs: number | null;
}
export interface AreaAnswer {
  rows: AreaLine[];
  /**
   * Where the time of the chosen threads with SQL went, summed. null = one of them isn't computed
   * yet, or no thread runs SQL.
   */
  times: PartTimes | null;
  /** The chosen threads that run SQL, which make up the sum. */
  sqlThreads: number;
}

export interface AnnotationsAnswer extends Annotations {
  /** Changes with the trace. */
  trace: number;
}
