/** What the recording cost the app. */
import { formatDuration, formatShare } from '../../text/numbers.ts';
import { fact } from '../core/graph.ts';
import { callCounts } from '../files/call-counts.ts';
import { timesInSql, totalTimeInSql } from './summary-time.ts';

/** Microseconds of its threads, and their share of the time in SQL; null = not known. */
export interface RecordingCost {
  us: number | null;
  share: number | null;
}
export const recordingCost = fact(
  'recordingCost',
  'what recording cost',
  { callCounts, timesInSql, totalTimeInSql },
  (_, { callCounts: { cost }, timesInSql: times, totalTimeInSql: inSql }): RecordingCost => {
    // a model of the total cost; on a busy machine the measured part may take longer
    const us = cost.events ? Math.max((cost.ns + cost.startNs) / 1000, times?.tracerUs ?? 0) : null;
    return { us, share: us !== null && inSql ? Math.min(1, us / inSql) : null };
  },
);

/** From this share on, times say little about the app without vfscope. */
const TOO_MUCH = 0.9;

/** One sentence; '' if not known. */
export const costText = ({ us, share }: RecordingCost): string =>
  us === null
    ? ''
    : share !== null && share >= TOO_MUCH
      ? `Recording cost your app about ${formatDuration(us)}, as much as SQLite itself: these times are too short to judge.`
      : `Recording cost your app about ${formatDuration(us)}${share === null ? '' : `, ${formatShare(share)} of its time in SQL`}.`;
