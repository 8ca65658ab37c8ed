/** Questions and answers of the search in the timeline. */
import type { EventRef } from '../../trace/store.ts';

export interface SearchAnswer {
  count: number;
  /**
   * Begins of hits, microseconds: at most one for each pixel column, both of the view and of the
   * whole trace.
   */
  inView: Float64Array;
  overview: Float64Array;
  /** Index of the given event among the hits, from 0; -1 = it isn't a hit. */
  at: number;
}

export interface SearchArgs {
  text: string;
  fromUs: number;
  toUs: number;
  width: number;
  /** Begin and end of the trace, and the overview's number of columns. */
  wholeFromUs: number;
  wholeToUs: number;
  selected: EventRef | null;
}
