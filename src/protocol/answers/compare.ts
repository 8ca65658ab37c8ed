/** Questions and answers of the Compare view. */
import type { TraceDiff } from '../../analysis/report/diff.ts';
import type { HeadlineNumber } from '../../analysis/numbers/headline-numbers.ts';
import type { PartTimes } from '../../analysis/core/time-parts.ts';

export interface Side {
  events: number;
  /** While SQL runs, summed over the threads that run SQLite; null where none does. */
  times: PartTimes | null;
}

/** What is compared. */
export interface CompareArgs {
  /** Name of the second trace. It changes when another trace is loaded. */
  other: string;
  /** Trace B is the one in all other views, trace A is the second one. */
  swapped?: boolean;
}

export interface Comparison {
  a: Side;
  b: Side;
  numbers: { a: HeadlineNumber; b: HeadlineNumber }[];
  diff: TraceDiff;
}

/** One side's time while SQL runs, from its first statement or VFS call on. */
export interface Strip {
  /** From the first to the end of the last, microseconds. */
  spanUs: number;
  /**
   * For each thread that runs SQLite: each column's shares of time, as in TimelineLaneFrame.stack.
   */
  stacks: Uint8Array[];
}

export interface Strips {
  a: Strip;
  b: Strip;
}
