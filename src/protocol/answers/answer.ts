/** Questions and answers of the Answer view. */

/** The time in which SQL ran, long pauses left out. */
export interface BusyStrip {
  /** In order; what lies between two is folded. */
  segments: {
    /** Microseconds. */
    fromUs: number;
    toUs: number;
    columns: number;
    /** Of each thread that runs SQLite: shares of each column's time as TimelineLaneFrame.stack has them. */
    stacks: Uint8Array[];
  }[];
}
