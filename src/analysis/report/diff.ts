/**
 * Two traces side by side: every number of their summaries, and every statement, aligned by fingerprint and occurrence.
 *
 *   counts repeat to the last digit: equal or changed, no threshold        times do not: changed only beyond their spread
 *
 * A statement's spread comes from its own runs: the half-widths of the 95 % intervals of both medians (1.57 * interquartile range /
 * sqrt(n), as the notches of a box plot), and the clock's step. With fewer than 3 runs on a side nothing can be told of a time. Times
 * of the summary are single readings: their spread is not known, and the verdict says so.
 */
import { percentile } from '../core/durations.ts';
import type { Facts } from '../core/graph.ts';
import { findingDiffs, type FindingDiff } from '../findings/finding-diff.ts';
import {
  EXECUTION_COUNTS,
  executionGroups,
  type ExecutionCount,
  type ExecutionGroup,
} from '../statements/statement-runs.ts';
import { countOf } from '../../text/numbers.ts';
import { numbersOf } from './summary-numbers.ts';
import { summary, type Summary } from './summary.ts';

/**
 * `same`: equal. `changed`: differs. `noise`: differs, within the spread. `unknown`: cannot be told (no spread, or null on one side).
 * `only a`, `only b`: the other trace does not have it.
 */
export type Verdict = 'same' | 'changed' | 'noise' | 'unknown' | 'only a' | 'only b';

export interface NumberRow {
  path: string;
  kind: 'count' | 'time';
  a: number | null;
  b: number | null;
  /** b - a; null where one is not known. */
  delta: number | null;
  verdict: Verdict;
}

export interface TimeDiff {
  /** Medians, microseconds; null without a finished run. */
  a: number | null;
  b: number | null;
  totalA: number;
  totalB: number;
  /** Differences up to this are noise, microseconds; null where it cannot be known. */
  spreadUs: number | null;
  verdict: Verdict;
}

export interface StatementDiff {
  fingerprint: string;
  executionsA: number;
  executionsB: number;
  /** Sums over all executions. */
  counts: Record<ExecutionCount, { a: number; b: number }>;
  /** First execution (from 0) whose counts differ from its counterpart's; null = none of those that both traces have. */
  firstDifference: number | null;
  /** Executions whose counts differ, of those that both traces have. */
  differing: number;
  countsVerdict: Verdict;
  time: TimeDiff;
  /** Both: `changed` where counts changed, else what the times say. */
  verdict: Verdict;
}

export interface TraceDiff {
  numbers: NumberRow[];
  /** What changed first, then by time. */
  statements: StatementDiff[];
  /** What is to be done in B first; then what is solved. */
  findings: FindingDiff[];
  /** Rows by verdict. */
  totals: { numbers: Record<Verdict, number>; statements: Record<Verdict, number> };
  /** What makes the comparison doubtful. */
  warnings: string[];
}

export function diffOf(a: Facts, b: Facts): TraceDiff {
  const [summaryA, summaryB] = [a.get(summary), b.get(summary)];
  const numbers = numberRows(summaryA, summaryB);
  const stepUs = Math.max(
    summaryA.environment.clockStepUs ?? 0,
    summaryB.environment.clockStepUs ?? 0,
  );
  const statements = statementRows(a.get(executionGroups), b.get(executionGroups), stepUs);
  return {
    numbers,
    statements,
    findings: findingDiffs(a, b),
    totals: { numbers: tally(numbers), statements: tally(statements) },
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

/** Numbers that are times, or come from times, by their names. */
const isTime = (path: string): boolean => path.endsWith('Us');

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

function statementRows(
  a: Map<string, ExecutionGroup>,
  b: Map<string, ExecutionGroup>,
  stepUs: number,
): StatementDiff[] {
  const prints = [...a.keys(), ...[...b.keys()].filter((p) => !a.has(p))];
  const rows = prints.map((print) => statementDiff(print, a.get(print), b.get(print), stepUs));
  const weight = (r: StatementDiff): number => Math.abs(r.time.totalB - r.time.totalA);
  const rank = (r: StatementDiff): number =>
    r.verdict === 'changed' || r.verdict.startsWith('only') ? 0 : 1;
  return rows.sort(
    (x, y) =>
      rank(x) - rank(y) || weight(y) - weight(x) || (x.fingerprint < y.fingerprint ? -1 : 1),
  );
}

const N = EXECUTION_COUNTS.length;

function statementDiff(
  print: string,
  a: ExecutionGroup | undefined,
  b: ExecutionGroup | undefined,
  stepUs: number,
): StatementDiff {
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
  const time = timeDiff(a, b, stepUs);
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

/** Runs on a side below which nothing can be said of a spread. */
const ENOUGH = 3;

function timeDiff(
  a: ExecutionGroup | undefined,
  b: ExecutionGroup | undefined,
  stepUs: number,
): TimeDiff {
  const [x, y] = [quartiles(a?.timeUs), quartiles(b?.timeUs)];
  const base = {
    a: x?.median ?? null,
    b: y?.median ?? null,
    totalA: a?.totalUs ?? 0,
    totalB: b?.totalUs ?? 0,
  };
  if (!a || !b) return { ...base, spreadUs: null, verdict: a ? 'only a' : 'only b' };
  if (!x || !y) return { ...base, spreadUs: null, verdict: 'unknown' };
  if (x.n < ENOUGH || y.n < ENOUGH)
    return {
      ...base,
      spreadUs: null,
      verdict: x.median === y.median && base.totalA === base.totalB ? 'same' : 'unknown',
    };
  const spreadUs = x.notch + y.notch + stepUs;
  const apart = Math.abs(y.median - x.median);
  return {
    ...base,
    spreadUs,
    verdict: apart === 0 ? 'same' : apart <= spreadUs ? 'noise' : 'changed',
  };
}

/** Of the runs that ended; null without any. */
function quartiles(times: Float64Array | undefined) {
  const sorted = times?.filter((t) => !Number.isNaN(t)).sort();
  const n = sorted?.length;
  if (!n) return null;
  return {
    n,
    median: percentile(sorted, 0.5),
    notch: (1.57 * (percentile(sorted, 0.75) - percentile(sorted, 0.25))) / Math.sqrt(n),
  };
}

function warningsOf(a: Summary, b: Summary): string[] {
  const found: string[] = [];
  for (const [name, s] of [
    ['A', a],
    ['B', b],
  ] as const)
    if (s.dropped)
      found.push(`${name} lost ${countOf(s.dropped, 'event')}: its counts are lower bounds.`);
  if (a.environment.userAgent !== b.environment.userAgent)
    found.push('The browsers differ: times compare browsers too.');
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
