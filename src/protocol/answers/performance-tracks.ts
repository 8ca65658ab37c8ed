/**
 * Question and answer: the tracks that vfscope adds to Chrome's Performance panel while both
 * record.
 */

/** A thread's tracks in that panel. */
export const PERFORMANCE_TRACKS = ['Statements', 'Transactions', 'Syncs'] as const;
export type PerformanceTrack = (typeof PERFORMANCE_TRACKS)[number];

export interface PerformanceTracksArgs {
  /** Earlier events are left out: ms since the epoch. */
  fromMs: number;
  /** From the previous answer; {} at first. */
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
  /**
   * By trace, thread, and track: how many intervals of which lane are done, the begin of the last
   * one in ns, and what the trace had dropped by then.
   */
  after: Readonly<Record<string, { count: number; ns: number; forgotten: number; lane: string }>>;
  /** More is ready: ask again at once. */
  more: boolean;
}
