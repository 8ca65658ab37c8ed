/**
 * Two results of the same order side by side: a baseline and a change, two browsers, or two
 * releases. Counts are exact, times have their spread.
 */
import { isTime, placed } from '../experiments/model/aggregate.ts';
import {
  environmentFacts,
  type EnvironmentFact,
  type NamedResult,
} from '../experiments/model/environment.ts';
import { runsByHeading, runsByName, type LabOutcome } from '../experiments/outcome.ts';
import type { Placed, RunResult } from '../experiments/model/result-types.ts';
import { compare } from './compare.ts';
import { fromToText, type ResultTable } from './table.ts';
import { UNKNOWN } from '../../text/numbers.ts';

interface Pair {
  readonly name: string;
  readonly a: RunResult;
  readonly b: RunResult;
}
/** A number of a step in both; null: that result lacks it. */
export interface DiffNumber {
  readonly run: string;
  readonly step: string;
  /** A time is in ms. */
  readonly counter: string;
  readonly a: Placed | null;
  readonly b: Placed | null;
}
export interface ResultDiff {
  /** Times measured in both. */
  readonly times: ResultTable;
  /** Counts that differ, or that only one has. */
  readonly counts: ResultTable;
  /** How many counts are equal. */
  readonly equal: number;
  /** Every number of both, including equal ones. */
  readonly numbers: readonly DiffNumber[];
  /** Runs that only one of the two has. */
  readonly onlyA: readonly string[];
  readonly onlyB: readonly string[];
  /** Runs whose returned rows differ: they didn't compute the same. */
  readonly otherRows: readonly string[];
  /** What ran both. A value belongs to `A` or `B` where all runs of that side share it. */
  readonly environment: readonly EnvironmentFact[];
  /** The facts that differ between A and B. */
  readonly apart: ResultTable;
}

/** Between VFS calls there are hundreds of counters, which sum to the instructions. */
const SKIPPED = /^gap\./;

/** @throws Error with a message for the user where they aren't of the same order */
export function diffOf(a: LabOutcome, b: LabOutcome): ResultDiff {
  const { pairs, onlyA, onlyB } = pairsOf(a, b);
  const several = pairs.length > 1;
  const differing: string[][] = [];
  const times: string[][] = [];
  const numbers: DiffNumber[] = [];
  let equal = 0;
  for (const { name, a: x, b: y } of pairs)
    for (const step of stepsOf(x, y)) {
      const place = `${several ? `${name}: ` : ''}${step}`;
      for (const { counter, cells } of compare([x, y], step, countersOf(x, y, step))) {
        const [from, to] = cells;
        const at = { step, counter };
        const found = { a: placed(x, at) ?? null, b: placed(y, at) ?? null };
        numbers.push({ run: name, ...at, ...found });
        const row = [`${place} ${counter}`, from?.text ?? UNKNOWN, to?.text ?? UNKNOWN];
        if (isTime(counter)) {
          const spread = (of: Placed | null): string =>
            of?.spread && of.spread.n > 1 ? fromToText(of.spread, of.stepMs) : '';
          if (from && to)
            times.push([
              ...row.slice(0, 2),
              spread(found.a),
              to.text,
              spread(found.b),
              to.difference,
              to.ratio,
            ]);
        } else if (from && to && to.difference === '') equal++;
        else differing.push([...row, to?.difference ?? '', to?.ratio ?? '']);
      }
    }
  const environment = environmentOf(pairs);
  return {
    times: {
      id: 'diff-times',
      title: 'Times',
      help: 'Medians with the fastest and the slowest pass. A difference within the spread reads noise.',
      head: ['step and time', 'A', 'A from-to', 'B', 'B from-to', 'B - A', 'B / A'],
      rows: times,
      more: 0,
    },
    counts: {
      id: 'diff-counts',
      title: 'Counts that differ',
      help: 'Counts are exact: any difference is real.',
      head: ['step and counter', 'A', 'B', 'B - A', 'B / A'],
      rows: differing,
      more: 0,
    },
    equal,
    numbers,
    onlyA,
    onlyB,
    otherRows: pairs.flatMap(({ name, a: x, b: y }) => (x.digest === y.digest ? [] : [name])),
    environment,
    apart: {
      id: 'diff-apart',
      title: 'A and B differ in',
      help: 'Shared by all runs of one, and by no run of the other.',
      head: ['environment', 'A', 'B'],
      texts: [1, 2],
      rows: environment.flatMap(({ label, values }) => {
        const [a, b] = ['A', 'B'].map((side) =>
          values.flatMap(({ text, of }) => (of?.length === 1 && of[0] === side ? [text] : [])),
        ) as [string[], string[]];
        return a.length || b.length ? [[label, a.join(', '), b.join(', ')]] : [];
      }),
      more: 0,
    },
  };
}

/**
 * The facts of all runs. A fact that all runs of a side share belongs to that side; one that both
 * runs of each pair share belongs to the pairs.
 */
function environmentOf(pairs: readonly Pair[]): EnvironmentFact[] {
  const runs = (side: 'a' | 'b'): NamedResult[] =>
    pairs.map((pair) => ({ name: `${side} ${pair.name}`, result: pair[side] }));
  const grouped = (of: readonly string[]): readonly string[] => {
    const [a, b] = ['a ', 'b '].map((side) =>
      of.filter((name) => name.startsWith(side)).map((name) => name.slice(side.length)),
    ) as [string[], string[]];
    if (b.length === 0 && a.length === pairs.length) return ['A'];
    if (a.length === 0 && b.length === pairs.length) return ['B'];
    if (String(a) === String(b)) return a;
    return [...a.map((name) => `A ${name}`), ...b.map((name) => `B ${name}`)];
  };
  return environmentFacts([...runs('a'), ...runs('b')]).map(({ label, values }) => ({
    label,
    values: values.map(({ text, of }) => ({ text, of: of && grouped(of) })),
  }));
}

function pairsOf(
  a: LabOutcome,
  b: LabOutcome,
): { pairs: Pair[]; onlyA: string[]; onlyB: string[] } {
  const [what, other] = [orderOf(a), orderOf(b)];
  if (what !== other) throw new Error(`A is of ${what}, B of ${other}: they can't be compared.`);
  const [left, right] = [namesOf(a), namesOf(b)];
  const theirs = new Map(right.map(({ name, result }) => [name, result]));
  const pairs = left.flatMap(({ name, result }) => {
    const found = theirs.get(name);
    return found ? [{ name, a: result, b: found }] : [];
  });
  if (pairs.length === 0) throw new Error('A and B have no run in common.');
  for (const { name, a: x, b: y } of pairs)
    if (x.run.mode !== y.run.mode)
      throw new Error(`${name}: one is counted, the other timed. Run one of them again.`);
  const paired = new Set(pairs.map(({ name }) => name));
  const alone = (runs: readonly NamedResult[]): string[] =>
    runs.flatMap(({ name }) => (paired.has(name) ? [] : [name]));
  return { pairs, onlyA: alone(left), onlyB: alone(right) };
}

/** Combinations of a grid are paired by their settings, runs side by side by their position. */
const namesOf = (outcome: LabOutcome): NamedResult[] =>
  'runs' in outcome ? runsByName(outcome) : runsByHeading(outcome);
function orderOf(outcome: LabOutcome): string {
  if ('experiment' in outcome) return `the experiment ${outcome.experiment.experiment}`;
  const [first] = 'grid' in outcome ? outcome.grid.runs : outcome.runs;
  return `the workload ${first!.run.workload}`;
}

/** Steps of either, the sum last; for a single step the sum adds nothing. */
function stepsOf(a: RunResult, b: RunResult): string[] {
  const steps = [...new Set([...a.steps, ...b.steps].map(({ id }) => id))];
  return steps.length > 1 ? [...steps, 'total'] : steps;
}
/** Counters of either, times first. */
function countersOf(a: RunResult, b: RunResult, step: string): string[] {
  const of = (result: RunResult): string[] => {
    if (step === 'total') return [...(result.totalMs ? ['ms'] : []), ...Object.keys(result.totals)];
    const found = result.steps.find(({ id }) => id === step);
    if (!found) return [];
    return [
      ...(found.ms ? ['ms'] : []),
      ...Object.keys(found.parts),
      ...Object.keys(found.counters),
    ];
  };
  return [...new Set([...of(a), ...of(b)])].filter((name) => !SKIPPED.test(name));
}
