/**
 * Examples of the values that statements ran with (capture level 3): the first different ones of
 * each statement. The app chose them and a page can forge them, so each is cut, and only a few are
 * kept.
 */
import { Op } from '../../event/event.ts';
import type { ThreadStore } from '../../trace/store.ts';

/** One run's values, as SQL literals in the order of their parameters. */
export interface BoundExample {
  values: string[];
  /** How many values of the run exceed MOST_VALUES. */
  left: number;
}
export interface BoundValues {
  /** Runs whose values the recording has. */
  runs: number;
  /** The first MOST_EXAMPLES that differ. */
  examples: BoundExample[];
}

const MOST_EXAMPLES = 5;
const MOST_VALUES = 20;
/** Maximum characters of a value. */
const MOST_CHARACTERS = 120;

const cut = (text: string): string =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text;
const same = (a: BoundExample, b: BoundExample): boolean =>
  a.left === b.left &&
  a.values.length === b.values.length &&
  a.values.every((value, i) => value === b.values[i]);

/** @param each called for every run with recorded values: row of its first step, and its values */
export function eachBound(
  { events, said }: ThreadStore,
  each: (row: number, example: BoundExample) => void,
): void {
  for (const d of said) {
    if (d.kind !== 'values' || !Array.isArray(d.values)) continue;
    const row = events.rowOfSeq(d.of);
    if (row < 0 || events.op[row] !== Op.sqlStep) continue; // forgotten, lost, or forged
    const values = d.values
      .slice(0, MOST_VALUES)
      .map((value: unknown) => cut(typeof value === 'string' ? value : '?'));
    each(row, { values, left: Math.max(0, d.values.length - MOST_VALUES) });
  }
}

/** Adds one run. @returns the new values */
export function withExample(known: BoundValues | null, example: BoundExample): BoundValues {
  const all = known ?? { runs: 0, examples: [] };
  all.runs++;
  if (all.examples.length < MOST_EXAMPLES && !all.examples.some((other) => same(other, example)))
    all.examples.push(example);
  return all;
}
