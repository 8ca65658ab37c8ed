/**
 * Whether a statement's time changed by more than the spread of its runs. The total is judged,
 * never the median: with a coarse clock, the medians of two traces may be equal although one waits
 * seconds longer.
 *
 *   equally many runs   Run k of A and run k of B are a pair. The 95 % interval of the mean difference
 *                       comes from the differences of the pairs (R. Jain, The Art of Computer
 *                       Systems Performance Analysis, 1991, 13.4.1).
 *   else                It comes from the spread of both sides (the same, 13.4.2; Welch's degrees of
 *                       freedom).
 *
 * Multiplied by the number of runs, it is the interval of the difference of the totals. It is at
 * least what the clock's rounding adds. One long wait makes it too wide to show anything else, so
 * pairs also take a sign test (W. J. Conover, Practical Nonparametric Statistics, 3.4) at 99 %, in
 * which pairs within one step of the clock are ties. If other parameters or threads reordered the
 * runs, they pair at random, which makes the interval wider, but not wrong.
 *
 * At most 7 % of pairs of recordings of the same work get another verdict than noise, for few runs,
 * long waits, and coarse clocks, too (simulated in the tests).
 *
 * The spread doesn't include what changes all runs of a recording (another clock rate of the CPU,
 * other load), because each side is one recording.
 */
import type { ExecutionGroup } from '../statements/statement-runs.ts';

/** Runs of B compared with their counterparts in A, by more than a step of the clock. */
export interface RunPairs {
  count: number;
  faster: number;
  slower: number;
}
export interface TotalVerdict {
  /** Differences of the totals up to this are noise, microseconds; null with too few runs. */
  spreadUs: number | null;
  /** null if the numbers of runs differ. */
  pairs: RunPairs | null;
  verdict: 'same' | 'changed' | 'noise' | 'unknown';
  /**
   * If it changed: does B take longer? According to the total, or if that is within its spread, to
   * most pairs. null if it didn't change.
   */
  slower: boolean | null;
}

/** With fewer runs on a side, the spread isn't known. */
const ENOUGH = 3;
/** Sums of the same times in another order differ by less than this, microseconds. */
const EQUAL_US = 0.001;
/** Normal quantiles: two-sided 95 % and 99 %. */
const [Z95, Z99] = [1.96, 2.576];

/** @param stepUs the coarser step of both clocks; 0 = not known */
export function totalVerdict(a: ExecutionGroup, b: ExecutionGroup, stepUs: number): TotalVerdict {
  const paired = a.executions === b.executions;
  const samples = paired ? [b.timeUs.map((us, k) => us - a.timeUs[k]!)] : [a.timeUs, b.timeUs];
  const sums = samples.map(spreadOfSum);
  const pairs = paired ? signs(samples[0]!, stepUs) : null;
  const equal = Math.abs(b.totalUs - a.totalUs) < EQUAL_US;
  if (sums.some(({ n }) => n < ENOUGH))
    return { spreadUs: null, pairs, verdict: equal ? 'same' : 'unknown', slower: null };
  const times = sums.reduce((n, sum) => n + sum.n, 0) * (paired ? 2 : 1);
  const spreadUs = Math.max(halfWidth(sums), Z95 * stepUs * Math.sqrt(times / 6));
  const change = b.totalUs - a.totalUs;
  if (Math.abs(change) > spreadUs)
    return { spreadUs, pairs, verdict: 'changed', slower: change > 0 };
  if (pairs && isOneSided(pairs))
    return { spreadUs, pairs, verdict: 'changed', slower: pairs.slower > pairs.faster };
  return { spreadUs, pairs, verdict: equal ? 'same' : 'noise', slower: null };
}

/**
 * For all statements together, from the difference of each. Their spreads are added as squares. A
 * difference of unknown spread counts as if its sign were random (R. A. Fisher's randomization
 * test, by the normal distribution): many that agree mean something, but not a single one.
 */
export function wholeVerdict(
  parts: readonly { us: number; spreadUs: number | null }[],
): TotalVerdict['verdict'] {
  const moved = Math.abs(parts.reduce((sum, { us }) => sum + us, 0));
  const squares = (spread: (part: (typeof parts)[number]) => number): number =>
    parts.reduce((sum, part) => sum + spread(part) ** 2, 0);
  if (moved < EQUAL_US) return 'same';
  if (moved > Math.sqrt(squares(({ us, spreadUs }) => spreadUs ?? Z95 * us))) return 'changed';
  return moved > Math.sqrt(squares(({ spreadUs }) => spreadUs ?? 0)) ? 'unknown' : 'noise';
}

/** Of the finished ones: their number, and the variance of their sum. */
function spreadOfSum(values: Float64Array): { n: number; variance: number } {
  const known = values.filter((us) => !Number.isNaN(us));
  const n = known.length;
  const mean = known.reduce((sum, us) => sum + us, 0) / n;
  const squares = known.reduce((sum, us) => sum + (us - mean) ** 2, 0);
  return { n, variance: n > 1 ? (n * squares) / (n - 1) : 0 };
}

/** Half of the 95 % interval around the difference of two sums, or of one sum of differences. */
function halfWidth(sums: readonly { n: number; variance: number }[]): number {
  const variance = sums.reduce((sum, s) => sum + s.variance, 0);
  if (variance === 0) return 0;
  const freedom = variance ** 2 / sums.reduce((sum, s) => sum + s.variance ** 2 / (s.n - 1), 0);
  return student95(freedom) * Math.sqrt(variance);
}

/**
 * Student's t, two-sided 95 %: Abramowitz and Stegun 26.7.5, within 3.2 % from 2 degrees of freedom
 * on.
 */
function student95(freedom: number): number {
  const z = Z95;
  return (
    z +
    (z ** 3 + z) / (4 * freedom) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * freedom ** 3)
  );
}

function signs(differences: Float64Array, stepUs: number): RunPairs {
  // times are floats, so one step may be slightly more
  const tie = Math.max(1.001 * stepUs, EQUAL_US);
  const pairs = { count: 0, faster: 0, slower: 0 };
  for (const us of differences) {
    if (Number.isNaN(us)) continue;
    pairs.count++;
    if (us < -tie) pairs.faster++;
    else if (us > tie) pairs.slower++;
  }
  return pairs;
}

/** The sign test, by the normal distribution with Yates's correction. */
const isOneSided = ({ faster, slower }: RunPairs): boolean =>
  Math.abs(faster - slower) - 1 > Z99 * Math.sqrt(faster + slower);
