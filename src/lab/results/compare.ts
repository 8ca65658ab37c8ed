/** Results side by side, a row a counter: the page and the terminal both draw it. */
import { isTime, placed } from '../experiments/model/aggregate.ts';
import { isNoise, uncertainty } from '../experiments/model/assertions.ts';
import type { Placed, RunResult } from '../experiments/model/result-types.ts';
import { exactDifference, fromToText, milliseconds, number, ratioOf } from './table.ts';

interface Cell {
  text: string;
  /** Against its base: `×0.5`, `=`, of times that are too near `noise`; '' without one. */
  ratio: string;
  /** Against its base: `+79`; '' without one, and where they are equal. */
  difference: string;
  /** Of the row's largest, 0 to 1. */
  share: number;
  /** More, for a tooltip: the spread of a time. */
  detail: string;
}
interface Row {
  counter: string;
  /** null = this run does not know it. */
  cells: (Cell | null)[];
}

/** @param bases by column, the index of the one that it is compared with, its own = with none; by default the first for all */
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

/** Too short for its clock: it may be anything from 0 to the step. */
const isBelowStep = ({ value, spread, stepMs }: Placed): boolean =>
  spread !== null && value < 0.999 * stepMs;
/** Of times and counts against a base: `noise` where two times are too near, `< ×0.2` where one is too short for its clock. */
export function ratioText(found: Placed, base: Placed): string {
  const areTimes = found.spread && base.spread;
  if (areTimes && isNoise(found.value - base.value, [uncertainty(found), uncertainty(base)]))
    return 'noise';
  if (isBelowStep(base)) return `> ${ratioOf(found.value, base.stepMs)}`;
  if (isBelowStep(found)) return `< ${ratioOf(found.stepMs, base.value)}`;
  return ratioOf(found.value, base.value);
}

function passesText({ spread, stepMs }: Placed): string {
  const { n, passes } = spread!;
  const each = passes.map((ms) => milliseconds(ms, stepMs)).join(', ');
  return `${fromToText(spread!, stepMs)} in ${n}${n < passes.length ? ` of ${passes.length}` : ''} passes: ${each}`;
}
