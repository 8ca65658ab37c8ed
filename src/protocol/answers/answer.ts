/** Questions and answers of the Answer view. */

/** The counts on the tabs: how much there is to look at in each. */
export interface TabCounts {
  /** Rules of the actions, dismissed ones included. */
  actions: string[];
  /** Failed calls whose error reached the app. */
  errors: number;
}

/** For one thread: each column's shares of time, as in TimelineLaneFrame.stack. */
export type TimeStrip = Uint8Array;

/** The time while SQL runs, without long pauses. */
export interface BusyStrip {
  /** In order. The time between two of them is folded. */
  segments: {
    /** Microseconds. */
    fromUs: number;
    toUs: number;
    columns: number;
    /** For each thread that runs SQLite. */
    stacks: TimeStrip[];
  }[];
}
