/**
 * Durations of single checkpoints: mean, median, and spread over all checkpoints of all passes of a
 * run.
 */
import { spreadOf, stepMsOf } from '../experiments/model/aggregate.ts';
import type { NamedResult } from '../experiments/model/environment.ts';
import type { RunResult, Spread } from '../experiments/model/result-types.ts';
import { formatCount } from '../../text/numbers.ts';
import type { AnswerChart } from './answers.ts';
import { milliseconds, type ResultTable } from './table.ts';

interface Checkpoints {
  readonly name: string;
  readonly spread: Spread;
  /** Milliseconds. */
  readonly mean: number;
  /** Of the clock. */
  readonly stepMs: number;
}

/** Milliseconds, in execution order, without left-out passes. */
function timesOf({ steps, leftOut }: RunResult): number[] {
  const out = new Set(leftOut.map(({ pass }) => pass));
  return steps.flatMap(({ checkpoints }) =>
    (checkpoints ?? []).flatMap((times, i) => (out.has(i + 1) ? [] : times)),
  );
}
const found = (runs: readonly NamedResult[]): Checkpoints[] =>
  runs.flatMap(({ name, result }) => {
    const times = timesOf(result);
    if (times.length === 0) return [];
    const mean = times.reduce((a, b) => a + b, 0) / times.length;
    return [{ name, spread: spreadOf(times), mean, stepMs: stepMsOf(result) }];
  });

/** A row for each run; null where no checkpoint was timed. */
export function checkpointTable(runs: readonly NamedResult[]): ResultTable | null {
  const all = found(runs);
  if (all.length === 0) return null;
  return {
    id: 'checkpoints',
    title: 'Time per checkpoint',
    help: 'From its first copied page to the database sync, over all passes.',
    head: ['run', 'checkpoints', 'mean', 'median', 'median deviation', 'min', 'max'],
    rows: all.map(({ name, mean, stepMs, spread: { n, median, mad, least, most } }) => [
      name,
      formatCount(n),
      ...[mean, median, mad, least, most].map((ms) => milliseconds(ms, stepMs)),
    ]),
    more: 0,
  };
}

/** Medians with the range from the shortest to the longest; null where no checkpoint was timed. */
export function checkpointChart(runs: readonly NamedResult[]): AnswerChart | null {
  const all = found(runs);
  if (all.length === 0) return null;
  return {
    id: 'checkpoints',
    title: 'Median time per checkpoint, with min and max',
    bars: all.map(({ name, stepMs, spread: { median, least, most } }) => ({
      label: name,
      value: median,
      text: milliseconds(median, stepMs),
      range: [least, most],
    })),
  };
}
