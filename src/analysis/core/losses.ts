/** Calls that were made but aren't in the trace. If there are any, every count is a lower bound. */
import { countOf, formatCount } from '../../text/numbers.ts';
import { fact } from './graph.ts';

/** What a dropped event is. */
export const LOST = "Calls that didn't fit in their thread's buffer, or got lost on the way here";

/**
 * What is missing, and why; [] if nothing is. Workers that aren't recorded are separate
 * (unrecorded-workers.ts).
 */
export const losses = fact('losses', 'calls that are missing', {}, (store): readonly string[] => {
  const { dropped, forgotten, threads } = store;
  const faults = threads.reduce((n, t) => n + t.faults, 0);
  return [
    ...(dropped ? [`${countOf(dropped, 'event')} didn't fit in the buffer, or got lost`] : []),
    ...(forgotten
      ? [`${formatCount(forgotten)} older ones were dropped, as the recording's settings ask`]
      : []),
    ...(faults ? [`vfscope failed on ${countOf(faults, 'call')}`] : []),
  ];
});

/** @param missing at least one of `losses` */
export const lossesText = (missing: readonly string[]): string =>
  `${missing.join(', ')}. The real counts are higher.`;
