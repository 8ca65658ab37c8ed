/**
 * Ticks of an axis: round steps (1, 2, 5). For moments, the whole axis has one unit, so that labels
 * compare.
 */
import { spanOf, type Range } from './viewport.ts';

export interface Tick {
  at: number;
  label: string;
}

/** The smallest round number that isn't below `least`, which is above 0. */
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5]) if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

/** Multiples of a step within a range. */
export function multiples({ from, to }: Range, step: number): number[] {
  const all: number[] = [];
  for (let n = Math.ceil(from / step); n * step <= to; n++) all.push(n * step + 0); // never -0
  return all;
}

/**
 * Powers of ten within a range above 0, at most about eight. On a short axis also 2 and 5 times
 * these.
 */
export function powers({ from, to }: Range): number[] {
  const [low, high] = [Math.floor(Math.log10(from)), Math.ceil(Math.log10(to))];
  const every = Math.max(1, Math.ceil((high - low) / 8));
  const all: number[] = [];
  for (let n = low; n <= high; n += every)
    for (const factor of high - low <= 2 ? [1, 2, 5] : [1]) all.push(factor * 10 ** n);
  return all.filter((t) => t >= from * 0.999 && t <= to * 1.001);
}

/**
 * Moments in microseconds within the range, at most one every `minPx`.
 * @param width px of the axis
 */
export function timeTicks(range: Range, width: number, minPx = 90): Tick[] {
  if (width <= 0 || !(spanOf(range) > 0)) return [];
  const step = roundStep((spanOf(range) / width) * minPx);
  const label = labeller(step, Math.max(Math.abs(range.from), Math.abs(range.to)));
  return multiples(range, step).map((at) => ({ at, label: label(at) }));
}

/**
 * The unit follows from the step. Far from zero at a fine step, a larger unit keeps the number
 * readable.
 */
function labeller(step: number, furthest: number): (us: number) => string {
  const unit = furthest >= 1e6 && step >= 1e3 ? 1e6 : furthest >= 1e3 && step >= 0.1 ? 1e3 : 1;
  const name = unit === 1e6 ? 's' : unit === 1e3 ? 'ms' : 'µs';
  const decimals = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
  return (us) => `${(us / unit).toFixed(decimals).replace(/^-(0(\.0*)?)$/, '$1')} ${name}`;
}
