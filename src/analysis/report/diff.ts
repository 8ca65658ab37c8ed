/**
 * Compares two traces: every number of their summaries, and every statement, matched by fingerprint
 * and occurrence.
 *
 *   counts repeat to the last digit: equal or changed, no threshold        times do not: changed only beyond their spread
 *
 * For a statement's time, the total is judged (`total-verdict.ts`). With fewer than 3 runs on a
 * side, the spread isn't known. Times of the summary are single readings without a known spread,
 * either, as their verdict shows.
 */
import { percentile } from '../core/durations.ts';
import { conditions, unlikeText } from '../core/conditions.ts';
import { lossesText } from '../core/losses.ts';
import { unrecordedText } from '../core/unrecorded-workers.ts';
import type { Facts } from '../core/graph.ts';
import { findingDiffs, type FindingDiff } from '../findings/finding-diff.ts';
import {
  EXECUTION_COUNTS,
  executionGroups,
  type ExecutionCount,
  type ExecutionGroup,
} from '../statements/statement-runs.ts';
import { recordedTexts } from '../core/recorded-texts.ts';
import { formatDuration } from '../../text/numbers.ts';
import { numbersOf } from './summary-numbers.ts';
import { summary, type Summary } from './summary.ts';
import { totalTimeInSql } from '../time/summary-time.ts';
import { totalVerdict, wholeVerdict, type TotalVerdict } from './total-verdict.ts';

/**
 * `same`: equal. `changed`: differs. `noise`: differs, within the spread. `unknown`: undecided (no
 * spread, or null on one side). `only a`, `only b`: the other trace doesn't have it.
 */
export type Verdict = 'same' | 'changed' | 'noise' | 'unknown' | 'only a' | 'only b';

export interface NumberRow {
  path: string;
  kind: 'count' | 'time';
  a: number | null;
  b: number | null;
  /** b - a; null if one isn't known. */
  delta: number | null;
  verdict: Verdict;
}

export interface TimeDiff extends Omit<TotalVerdict, 'verdict'> {
  /** Medians, microseconds; null without a finished run. With a coarse clock they show little. */
  a: number | null;
  b: number | null;
  totalA: number;
  totalB: number;
  /** Difference of the totals / the time of all statements in the slower trace. */
  share: number;
  verdict: Verdict;
}

export interface StatementDiff {
  fingerprint: string;
  /** The text that is shown: its recorded text in A, else in B. */
  sql: string;
  executionsA: number;
  executionsB: number;
  /** Sums over all executions. */
  counts: Record<ExecutionCount, { a: number; b: number }>;
  /**
   * First execution (from 0) whose counts differ from its counterpart's; null = none of those in
   * both traces.
   */
  firstDifference: number | null;
  /** Executions in both traces whose counts differ. */
  differing: number;
  countsVerdict: Verdict;
  time: TimeDiff;
  /** Both: `changed` if counts changed, else the verdict on times. */
  verdict: Verdict;
}

/**
 * The runs of the statements in both traces, together, and those in only one: microseconds. Without
 * preparing them, and without opening a database, which are in `inSqlUs`.
 */
export interface WholeDiff {
  totalA: number;
  totalB: number;
  onlyA: number;
  onlyB: number;
  verdict: TotalVerdict['verdict'];
}

export interface TraceDiff {
  numbers: NumberRow[];
  /** Time in SQL as the summaries have it, microseconds; null if not known. */
  inSqlUs: { a: number | null; b: number | null };
  whole: WholeDiff;
  /** Coarsest clock step of each, microseconds; null = not known. */
  stepUs: { a: number | null; b: number | null };
  /** Those that changed the total first, then those that changed, each by time. */
  statements: StatementDiff[];
  /** First what to do in B, then what is solved. */
  findings: FindingDiff[];
  /** Rows by verdict. */
  totals: { numbers: Record<Verdict, number>; statements: Record<Verdict, number> };
  /** Why times are not judged; null = they are. */
  unlike: string | null;
  /** Reasons to doubt the comparison. */
  warnings: string[];
}

export function diffOf(a: Facts, b: Facts): TraceDiff {
  const [summaryA, summaryB] = [a.get(summary), b.get(summary)];
  const numbers = numberRows(summaryA, summaryB);
  const stepUs = { a: summaryA.environment.clockStepUs, b: summaryB.environment.clockStepUs };
  const unlike = unlikeText(a.get(conditions), b.get(conditions));
  const { statements, whole } = statementRows(
    a.get(executionGroups),
    b.get(executionGroups),
    unlike === null ? Math.max(stepUs.a ?? 0, stepUs.b ?? 0) : null,
    (print) => a.get(recordedTexts).get(print) ?? b.get(recordedTexts).get(print) ?? print,
  );
  return {
    numbers,
    inSqlUs: { a: a.get(totalTimeInSql), b: b.get(totalTimeInSql) },
    whole,
    stepUs,
    statements,
    findings: findingDiffs(a, b),
    totals: { numbers: tally(numbers), statements: tally(statements) },
    unlike,
    warnings: warningsOf(summaryA, summaryB),
  };
}

function tally(rows: readonly { verdict: Verdict }[]): Record<Verdict, number> {
  const totals: Record<Verdict, number> = {
    same: 0,
    changed: 0,
    noise: 0,
    unknown: 0,
    'only a': 0,
    'only b': 0,
  };
  for (const { verdict } of rows) totals[verdict]++;
  return totals;
}

/** Numbers that are times, or derived from times, by name. */
const isTime = (path: string): boolean => path.endsWith('Us');
/** Numbers from 0 to 1. */
export const isShare = (path: string): boolean => path.endsWith('Rate');

function numberRows(a: Summary, b: Summary): NumberRow[] {
  const [ofA, ofB] = [numbersOf(a), numbersOf(b)];
  const paths = [...ofA.keys(), ...[...ofB.keys()].filter((path) => !ofA.has(path))];
  return paths.map((path): NumberRow => {
    const kind = isTime(path) ? 'time' : 'count';
    const [x, y] = [ofA.get(path) ?? null, ofB.get(path) ?? null];
    const row = { path, kind, a: x, b: y, delta: x === null || y === null ? null : y - x } as const;
    if (!ofB.has(path)) return { ...row, verdict: 'only a' };
    if (!ofA.has(path)) return { ...row, verdict: 'only b' };
    if (x === y) return { ...row, verdict: 'same' };
    return { ...row, verdict: row.delta === null || kind === 'time' ? 'unknown' : 'changed' };
  });
}

/** Changed by more than this share of the time of all statements: listed with any verdict. */
const MOVED = 0.01;
export const movesWhole = ({ time }: StatementDiff): boolean => Math.abs(time.share) > MOVED;
/** Worth a look: neither equal nor noise. */
export const differs = ({ verdict }: { verdict: Verdict }): boolean =>
  verdict !== 'same' && verdict !== 'noise';

/** @param when by fingerprint */
const totalOf = (groups: Map<string, ExecutionGroup>, when: (print: string) => boolean): number =>
  [...groups].reduce((sum, [print, { totalUs }]) => sum + (when(print) ? totalUs : 0), 0);
/** B - A, microseconds. */
export const totalDelta = ({ totalA, totalB }: { totalA: number; totalB: number }): number =>
  totalB - totalA;

/** @param stepUs null: times aren't judged @param sqlOf the shown text of a fingerprint */
function statementRows(
  a: Map<string, ExecutionGroup>,
  b: Map<string, ExecutionGroup>,
  stepUs: number | null,
  sqlOf: (print: string) => string,
): { statements: StatementDiff[]; whole: WholeDiff } {
  const totals = {
    totalA: totalOf(a, (print) => b.has(print)),
    totalB: totalOf(b, (print) => a.has(print)),
    onlyA: totalOf(a, (print) => !b.has(print)),
    onlyB: totalOf(b, (print) => !a.has(print)),
  };
  const wholeUs = Math.max(totals.totalA + totals.onlyA, totals.totalB + totals.onlyB);
  const prints = [...a.keys(), ...[...b.keys()].filter((p) => !a.has(p))];
  const statements = prints.map((print): StatementDiff => ({
    ...statementDiff(print, a.get(print), b.get(print), stepUs, wholeUs),
    sql: sqlOf(print),
  }));
  const weight = (r: StatementDiff): number => Math.abs(totalDelta(r.time));
  const rank = (r: StatementDiff): number =>
    movesWhole(r) ? 0 : r.verdict === 'changed' || r.verdict.startsWith('only') ? 1 : 2;
  statements.sort(
    (x, y) =>
      rank(x) - rank(y) || weight(y) - weight(x) || (x.fingerprint < y.fingerprint ? -1 : 1),
  );
  const parts = statements
    .filter(({ verdict }) => !verdict.startsWith('only'))
    .map(({ time }) => ({ us: totalDelta(time), spreadUs: time.spreadUs }));
  return {
    statements,
    whole: { ...totals, verdict: stepUs === null ? 'unknown' : wholeVerdict(parts) },
  };
}

const N = EXECUTION_COUNTS.length;

function statementDiff(
  print: string,
  a: ExecutionGroup | undefined,
  b: ExecutionGroup | undefined,
  stepUs: number | null,
  wholeUs: number,
): Omit<StatementDiff, 'sql'> {
  const sum = (g: ExecutionGroup | undefined, column: number): number => {
    let total = 0;
    for (let i = column; g && i < g.counts.length; i += N) total += g.counts[i]!;
    return total;
  };
  const counts = Object.fromEntries(
    EXECUTION_COUNTS.map((name, i) => [name, { a: sum(a, i), b: sum(b, i) }]),
  ) as StatementDiff['counts'];
  let firstDifference: number | null = null;
  let differing = 0;
  const common = Math.min(a?.executions ?? 0, b?.executions ?? 0);
  for (let k = 0; k < common; k++) {
    let equal = true;
    for (let i = k * N; i < (k + 1) * N && equal; i++) equal = a!.counts[i] === b!.counts[i];
    if (equal) continue;
    firstDifference ??= k;
    differing++;
  }
  const countsVerdict: Verdict = !b
    ? 'only a'
    : !a
      ? 'only b'
      : a.executions === b.executions && differing === 0
        ? 'same'
        : 'changed';
  const time = timeDiff(a, b, stepUs, wholeUs);
  return {
    fingerprint: print,
    executionsA: a?.executions ?? 0,
    executionsB: b?.executions ?? 0,
    counts,
    firstDifference,
    differing,
    countsVerdict,
    time,
    verdict: countsVerdict === 'same' ? time.verdict : countsVerdict,
  };
}

function timeDiff(
  a: ExecutionGroup | undefined,
  b: ExecutionGroup | undefined,
  stepUs: number | null,
  wholeUs: number,
): TimeDiff {
  const totals = { totalA: a?.totalUs ?? 0, totalB: b?.totalUs ?? 0 };
  const base = {
    a: median(a?.timeUs),
    b: median(b?.timeUs),
    ...totals,
    share: wholeUs ? totalDelta(totals) / wholeUs : 0,
  };
  const notJudged = { ...base, spreadUs: null, pairs: null, slower: null } as const;
  if (!a || !b) return { ...notJudged, verdict: a ? 'only a' : 'only b' };
  return stepUs === null
    ? { ...notJudged, verdict: 'unknown' }
    : { ...base, ...totalVerdict(a, b, stepUs) };
}

/** Of the finished runs; null without any. */
function median(times: Float64Array | undefined): number | null {
  const sorted = times?.filter((us) => !Number.isNaN(us)).sort();
  return sorted?.length ? percentile(sorted, 0.5) : null;
}

function warningsOf(a: Summary, b: Summary): string[] {
  const found: string[] = [];
  for (const [name, s] of [
    ['A', a],
    ['B', b],
  ] as const) {
    if (s.losses.length) found.push(`${name}: ${lossesText(s.losses)}`);
    if (s.unrecordedWorkers.length) found.push(`${name}: ${unrecordedText(s.unrecordedWorkers)}`);
  }
  if (a.environment.userAgent !== b.environment.userAgent)
    found.push('The browsers differ: times compare browsers too.');
  const step = (s: Summary): string => formatDuration(s.environment.clockStepUs);
  if (step(a) !== step(b)) found.push(`The clock steps differ: ${step(a)} and ${step(b)}.`);
  const engines = (s: Summary): string =>
    s.engines.map((e) => `${e.name} ${e.sqliteVersion ?? ''}`).join(', ');
  if (engines(a) !== engines(b))
    found.push(`The engines differ: ${engines(a) || 'none'} and ${engines(b) || 'none'}.`);
  const layers = (s: Summary): string =>
    [...new Set(s.threads.flatMap((t) => t.layers))].sort().join(', ');
  if (layers(a) !== layers(b))
    found.push(`The layers differ: ${layers(a) || 'none'} and ${layers(b) || 'none'}.`);
  return found;
}
