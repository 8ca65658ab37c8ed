/** What the recording cost the app. */
import { fact } from '../core/graph.ts';
import { callCounts } from '../files/call-counts.ts';
import { timesInSql, totalTimeInSql } from './summary-time.ts';

export interface RecordingCost {
  /** Microseconds of its threads, and their share of the time in SQL; null = not known. */
  us: number | null;
  share: number | null;
  /** What of it was timed in SQL, microseconds. */
  timedUs: number;
}
export const recordingCost = fact(
  'recordingCost',
  'what recording cost',
  { callCounts, timesInSql, totalTimeInSql },
  (_, { callCounts: { cost }, timesInSql: times, totalTimeInSql: inSql }): RecordingCost => {
    // a model of the total cost; on a busy machine the measured part may take longer
    const timedUs = times?.tracerUs ?? 0;
    const us = cost.events ? Math.max((cost.ns + cost.startNs) / 1000, timedUs) : null;
    return { us, share: us !== null && inSql ? Math.min(1, us / inSql) : null, timedUs };
  },
);
