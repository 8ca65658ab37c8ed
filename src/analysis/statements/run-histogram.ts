/**
 * A histogram of how long a statement's runs took. Each bucket is longer than the one before by a
 * constant factor.
 */

import { lowerBound } from '../../trace/number-columns.ts';

export interface RunHistogram {
  /**
   * Borders of the buckets, microseconds, one more than buckets. The first is 0 if runs were too
   * short for the clock.
   */
  edges: number[];
  counts: number[];
}

/** Buckets per factor of ten: enough for a picture, and fewer if there are many factors. */
const PER_DECADE = [24, 12, 6, 3] as const;
const MOST_BUCKETS = 30;

/** @param us durations, not negative, in any order */
export function runHistogram(us: ArrayLike<number>): RunHistogram {
  let [least, most, none] = [Infinity, 0, 0];
  for (let i = 0; i < us.length; i++) {
    if (us[i]! <= 0) none++;
    else least = Math.min(least, us[i]!);
    most = Math.max(most, us[i]!);
  }
  if (most === 0) return { edges: none ? [0, 1] : [], counts: none ? [none] : [] };
  const decades = Math.log10(most / least);
  const per = PER_DECADE.find((n) => n * decades <= MOST_BUCKETS) ?? 3;
  const first = Math.floor(Math.log10(least) * per);
  const last = Math.floor(Math.log10(most) * per) + 1;
  const edges = Array.from({ length: last - first + 1 }, (_, i) => 10 ** ((first + i) / per));
  // powers are rounded
  edges[0] = Math.min(edges[0]!, least);
  if (edges.at(-1)! <= most) edges.push(10 ** ((last + 1) / per));
  if (none) edges.unshift(0);
  const histogram = { edges, counts: new Array<number>(edges.length - 1).fill(0) };
  for (let i = 0; i < us.length; i++) histogram.counts[bucketOf(histogram, us[i]!)]!++;
  return histogram;
}

/** The bucket of a duration; -1 = none. */
export const bucketOf = ({ edges }: RunHistogram, us: number): number => {
  const place = lowerBound(edges, us, edges.length);
  return Math.min(edges[place] === us ? place : place - 1, edges.length - 2);
};
