/** Two results of the same order side by side: a baseline and a change, two browsers, two releases. Counts exactly, times with their spread. */
import { isTime, placed } from '../experiments/model/aggregate.ts';
import type { NamedResult } from '../experiments/model/environment.ts';
import { runsByHeading, runsByName, type LabOutcome } from '../experiments/outcome.ts';
import type { RunResult } from '../experiments/model/result-types.ts';
import { compare } from './compare.ts';
import { fromToText, type ResultTable } from './table.ts';
import { UNKNOWN } from '../../text/numbers.ts';

interface Pair {
  readonly name: string;
  readonly a: RunResult;
  readonly b: RunResult;
}
export interface ResultDiff {
  /** Times that were taken in both. */
  readonly times: ResultTable;
  /** Counts that differ, or that one alone has. */
  readonly counts: ResultTable;
  /** How many counts are the same. */
  readonly equal: number;
  /** Runs that one of the two has alone. */
  readonly onlyA: readonly string[];
  readonly onlyB: readonly string[];
  /** Runs whose rows that came back differ: they did not compute the same. */
  readonly otherRows: readonly string[];
  /** All runs of both, for their environments: `A` and `B`, where they are several with their names. */
  readonly runs: readonly NamedResult[];
}

/** Between VFS calls there are hundreds of counters, which sum up to the instructions. */
const SKIPPED = /^gap\./;

/** @throws Error with a message for the user where they are not of the same order */
export function diffOf(a: LabOutcome, b: LabOutcome): ResultDiff {
  const { pairs, onlyA, onlyB } = pairsOf(a, b);
  const several = pairs.length > 1;
  const differing: string[][] = [];
  const times: string[][] = [];
  let equal = 0;
  for (const { name, a: x, b: y } of pairs)
    for (const step of stepsOf(x, y)) {
      const place = `${several ? `${name}: ` : ''}${step}`;
      for (const { counter, cells } of compare([x, y], step, countersOf(x, y, step))) {
        const [from, to] = cells;
        const row = [`${place} ${counter}`, from?.text ?? UNKNOWN, to?.text ?? UNKNOWN];
        if (isTime(counter)) {
          const spread = (result: RunResult): string => {
            const found = placed(result, { step, counter })?.spread;
            return found && found.n > 1 ? fromToText(found) : '';
          };
          if (from && to)
            times.push([
              ...row.slice(0, 2),
              spread(x),
              to.text,
              spread(y),
              to.difference,
              to.ratio,
            ]);
        } else if (from && to && to.difference === '') equal++;
        else differing.push([...row, to?.difference ?? '', to?.ratio ?? '']);
      }
    }
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
      help: 'Counts are exact: any difference is one.',
      head: ['step and counter', 'A', 'B', 'B - A', 'B / A'],
      rows: differing,
      more: 0,
    },
    equal,
    onlyA,
    onlyB,
    otherRows: pairs.flatMap(({ name, a: x, b: y }) => (x.digest === y.digest ? [] : [name])),
    runs: pairs.flatMap(({ name, a: x, b: y }) => [
      { name: several ? `A ${name}` : 'A', result: x },
      { name: several ? `B ${name}` : 'B', result: y },
    ]),
  };
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

/** Combinations of a grid pair by what they are, runs side by side by their place. */
const namesOf = (outcome: LabOutcome): NamedResult[] =>
  'runs' in outcome ? runsByName(outcome) : runsByHeading(outcome);
function orderOf(outcome: LabOutcome): string {
  if ('experiment' in outcome) return `the experiment ${outcome.experiment.experiment}`;
  const [first] = 'grid' in outcome ? outcome.grid.runs : outcome.runs;
  return `the workload ${first!.run.workload}`;
}

/** Steps of either, the sum last; of a single step the sum says nothing new. */
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
