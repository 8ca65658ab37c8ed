/** Results side by side, one row per counter, for the page and the terminal. */
import { isTime, placed } from '../experiments/model/aggregate.ts';
import { isNoise, uncertainty } from '../experiments/model/assertions.ts';
import type { Placed, RunResult } from '../experiments/model/result-types.ts';
import { exactDifference, fromToText, milliseconds, number, ratioOf } from './table.ts';

interface Cell {
  text: string;
  /**
   * Relative to its base: `×0.5`, `=`, or `noise` for times that are too close; '' without a base.
   */
  ratio: string;
  /** Relative to its base: `+79`; '' without one, and where they are equal. */
  difference: string;
  /** Share of the row's largest value, 0 to 1. */
  share: number;
  /** Tooltip: the spread of a time. */
  detail: string;
}
interface Row {
  counter: string;
  /** null = not known for this run. */
  cells: (Cell | null)[];
}

/**
 * @param bases by column, the index of the column to compare with, its own index = none; by default
 * the first for all
 */
export function compare(
  results: readonly (RunResult | null)[],
  step: string,
  counters: readonly string[],
  bases: readonly number[] = [],
): Row[] {
  return counters.map((counter) => {
    const found = results.map((r) => (r ? placed(r, { step, counter }) : undefined));
    const most = Math.max(0, ...found.map((f) => f?.value ?? 0));
    return {
      counter,
      cells: found.map((f, i): Cell | null => {
        if (!f) return null;
        const at = bases[i] ?? 0;
        const base = at === i ? undefined : found[at];
        const difference =
          base && base.value !== f.value && !isBelowStep(f) && !isBelowStep(base)
            ? exactDifference(base.value, f.value, isTime(counter))
            : '';
        const against = at === 0 ? 'the first' : `column ${at + 1}`;
        return {
          text: isTime(counter) ? milliseconds(f.value, f.stepMs) : number(f.value),
          ratio: base ? ratioText(f, base) : '',
          difference,
          share: most > 0 ? f.value / most : 0,
          detail: f.spread ? passesText(f) : base ? `${difference || '='} against ${against}` : '',
        };
      }),
    };
  });
}

/** Too short for its clock: any value from 0 to the resolution. */
const isBelowStep = ({ value, spread, stepMs }: Placed): boolean =>
  spread !== null && value < 0.999 * stepMs;
/**
 * For times and counts with a base: `noise` where two times are too close, `< ×0.2` where one is
 * too short for its clock.
 */
export function ratioText(found: Placed, base: Placed): string {
  if (isNoiseBetween(found, base)) return 'noise';
  if (isBelowStep(base)) return `> ${ratioOf(found.value, base.stepMs)}`;
  if (isBelowStep(found)) return `< ${ratioOf(found.stepMs, base.value)}`;
  return ratioOf(found.value, base.value);
}

/** Whether both are times that are too close to tell apart. */
export const isNoiseBetween = (a: Placed, b: Placed): boolean =>
  a.spread !== null &&
  b.spread !== null &&
  isNoise(a.value - b.value, [uncertainty(a), uncertainty(b)]);

function passesText({ spread, stepMs }: Placed): string {
  const { n, passes } = spread!;
  const each = passes.map((ms) => milliseconds(ms, stepMs)).join(', ');
  return `${fromToText(spread!, stepMs)} in ${n}${n < passes.length ? ` of ${passes.length}` : ''} passes: ${each}`;
}
