/** Questions and answers of the Answer view. */

/** What the tabs count: it waits there to be looked at. */
export interface TabCounts {
  /** Rules of the actions, dismissed ones included. */
  actions: string[];
  /** Failed calls of which the app heard. */
  errors: number;
}

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
