/** Question and answer: what vfscope adds to Chrome's Performance panel while both record. */

/** Tracks of a thread there. */
export const PERFORMANCE_TRACKS = ['Statements', 'Transactions', 'Syncs'] as const;
export type PerformanceTrack = (typeof PERFORMANCE_TRACKS)[number];

export interface PerformanceTracksArgs {
  /** What began earlier is left out: ms since the epoch. */
  fromMs: number;
  /** From the last answer; {} at first. */
  after: PerformanceMarks['after'];
}

/** One call or transaction in a track, ms since the epoch. */
export interface PerformanceMark {
  label: string;
  fromMs: number;
  toMs: number;
  track: PerformanceTrack;
  /** Title of the thread. */
  thread: string;
}

export interface PerformanceMarks {
  marks: PerformanceMark[];
  /** By trace, thread, and track: how many intervals of which lane were looked at, the begin of the last one in ns, and what the trace had forgotten then. */
  after: Readonly<Record<string, { count: number; ns: number; forgotten: number; lane: string }>>;
  /** There is more to ask for at once. */
  more: boolean;
}
