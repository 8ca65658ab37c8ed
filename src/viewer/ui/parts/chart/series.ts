/** What XYChart draws: axes with their scales and ticks, and series as SVG paths. */
import { formatBytes, formatCount, formatMoment, formatNumber } from '../../../../text/numbers.ts';
import { multiples, powers, roundStep, timeTicks, type Tick } from '../../charts/ticks.ts';
import type { Range } from '../../charts/viewport.ts';

export interface Axis extends Range {
  /** `time` is in microseconds; `logarithmic` has values above 0 only. */
  kind: 'time' | 'bytes' | 'count' | 'number' | 'logarithmic';
  title?: string | undefined;
  /** Ticks at these values, if round numbers would mean nothing. */
  ticks?: readonly number[] | undefined;
  /** How to format a value; by default as its kind does. */
  format?: ((value: number) => string) | undefined;
}

export interface Series {
  name: string;
  /** A custom property of the theme, such as `--accent`. */
  color: string;
  /** One for each x of the chart; NaN = none. */
  values: ArrayLike<number>;
  /**
   * `line` connects points. In all others, a value holds until the next x; `bars` stack on the
   * previous bars.
   */
  as: 'line' | 'steps' | 'area' | 'bars';
  /** Lower and upper bounds that were measured, by x. */
  spread?: readonly (readonly [number, number] | undefined)[];
  dash?: string | undefined;
  /** Its own axis, at the right. */
  axis?: Axis;
  format?: (value: number) => string;
  /** What its name means. */
  hint?: string;
}

/** A dashed line at x or at y, with a text next to it; a dot at both. */
export interface Mark {
  x?: number;
  y?: number;
  color: string;
  text?: string;
  hint?: string;
}

/** A part of the x axis. */
export interface Zone {
  from: number;
  to: number;
  /** null = hatched. */
  color: string | null;
  hint: string;
  /** Written if it fits. */
  text?: string;
  selected?: boolean;
  testid?: string;
  onclick?: () => void;
}

const FORMATS = {
  time: formatMoment,
  bytes: formatBytes,
  count: formatCount,
  number: formatNumber,
  logarithmic: formatNumber,
};
/** Formats a value of an axis. */
export const formatOf = ({ kind, format }: Axis): ((value: number) => string) =>
  format ?? FORMATS[kind];

/** From a value to px between `start` and `end`. A single point is in the middle. */
export function scaleOf(axis: Axis, start: number, end: number): (value: number) => number {
  const { from, to } = axis;
  const share = (value: number): number =>
    axis.kind === 'logarithmic'
      ? Math.log(value / from) / Math.log(to / from)
      : (value - from) / (to - from);
  return (value) => start + (to > from ? share(value) : 0.5) * (end - start);
}

function tickValues({ kind, from, to, ticks }: Axis, most: number): readonly number[] {
  if (ticks) return ticks;
  if (!(to > from)) return [from];
  if (kind === 'logarithmic') return powers({ from, to });
  const least = (to - from) / Math.max(1, most);
  if (kind === 'number') return multiples({ from, to }, roundStep(least));
  const whole = Math.max(1, least);
  return multiples(
    { from, to },
    kind === 'bytes' ? 2 ** Math.ceil(Math.log2(whole)) : roundStep(whole),
  );
}

/** Ticks of an axis with so many px: round ones, at least `minPx` apart. */
export function ticksOf(axis: Axis, px: number, minPx: number): Tick[] {
  if (axis.kind === 'time') return timeTicks(axis, px);
  return tickValues(axis, px / minPx).map((at) => ({ at, label: formatOf(axis)(at) }));
}

/** The same ticks, without the label of one closer than `minPx` to the last that has one. */
export function spaced(ticks: readonly Tick[], x: (at: number) => number, minPx: number): Tick[] {
  let last = -Infinity;
  return ticks.map(({ at, label }) => {
    if (x(at) - last < minPx) return { at, label: '' };
    last = x(at);
    return { at, label };
  });
}

/** Between a line and its text, and between texts, px; maximum width of a letter. */
const [BESIDE, APART, LETTER] = [4, 8, 6];
interface PlacedText {
  x: number;
  anchor: 'start' | 'end';
  /** From 0, the topmost. */
  row: number;
}
/**
 * Positions of the texts of lines at x, in the fewest rows that keep them apart: to the right of
 * the line, or to the left if the text would end after `right`. @param marks px of the line
 */
export function placedTexts(
  marks: readonly { px: number; text: string }[],
  left: number,
  right: number,
): PlacedText[] {
  const rows: [from: number, to: number][][] = [];
  return marks.map(({ px, text }) => {
    const wide = LETTER * text.length;
    const isRight = px + BESIDE + wide <= right;
    const from = isRight ? px + BESIDE : Math.max(left, px - BESIDE - wide);
    const isFree = (row: [number, number][]): boolean =>
      row.every(([a, b]) => from > b + APART || from + wide + APART < a);
    const found = rows.findIndex(isFree);
    const row = found < 0 ? rows.push([]) - 1 : found;
    rows[row]!.push([from, from + wide]);
    return isRight ? { x: from, anchor: 'start', row } : { x: from + wide, anchor: 'end', row };
  });
}

/**
 * The point at px: the nearest one, or, if a value `holds` until the next x, the last one that
 * isn't after it; -1 = none.
 */
export function placeAt(xs: readonly number[], px: number, holds: boolean): number {
  let best = -1;
  for (const [i, x] of xs.entries())
    if (holds ? x <= px : best < 0 || Math.abs(x - px) < Math.abs(xs[best]! - px)) best = i;
  return best;
}

/**
 * The path of a series.
 * @param xs px of the points, and the px where the last one ends
 * @param ys px of the values, NaN = none
 * @param bases px on which each value stands
 */
export function pathOf(
  as: Series['as'],
  xs: readonly number[],
  ys: readonly number[],
  bases: readonly number[],
): string {
  const n = (px: number): string => px.toFixed(1);
  let path = '';
  let open = false;
  for (const [i, y] of ys.entries()) {
    if (Number.isNaN(y)) {
      open &&= as === 'line'; // a line has no gaps
      continue;
    }
    if (as === 'bars') {
      const [left, tall] = [xs[i]!, Math.max(1, bases[i]! - y)];
      const wide = Math.max(1, xs[i + 1]! - left - 0.5);
      if (y < bases[i]!) path += `M${n(left)},${n(bases[i]!)}v${n(-tall)}h${n(wide)}v${n(tall)}z`;
      continue;
    }
    const at = `${n(xs[i]!)},${n(y)}`;
    path += `${open ? 'L' : 'M'}${at}${as === 'line' ? '' : `H${n(xs[i + 1]!)}`}`;
    open = true;
  }
  return as === 'area' && path
    ? `M${n(xs[0]!)},${n(bases[0]!)}L${path.slice(1)}V${n(bases[0]!)}z`
    : path;
}
