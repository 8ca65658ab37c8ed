/** Questions and answers of the Answer view. */

/** Of one thread: shares of each column's time, as TimelineLaneFrame.stack has them. */
export type TimeStrip = Uint8Array;

/** The time in which SQL ran, long pauses left out. */
export interface BusyStrip {
  /** In order; what lies between two is folded. */
  segments: {
    /** Microseconds. */
    fromUs: number;
    toUs: number;
    columns: number;
    /** Of each thread that runs SQLite. */
    stacks: TimeStrip[];
  }[];
}
