/** Questions and answers of the search in the timeline. */
import type { EventRef } from '../../trace/store.ts';

export interface SearchAnswer {
  count: number;
  /** Begins of hits, microseconds, at most one for each pixel column of the view, and of the whole trace. */
  inView: Float64Array;
  overview: Float64Array;
  /** Place of the event that was asked for among the hits, from 0; -1 = it is none. */
  at: number;
}

export interface SearchArgs {
  text: string;
  fromUs: number;
  toUs: number;
  width: number;
  /** Begin and end of the trace, and columns of the overview. */
  wholeFromUs: number;
  wholeToUs: number;
  selected: EventRef | null;
}
