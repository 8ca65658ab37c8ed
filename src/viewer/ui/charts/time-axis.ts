/** Ticks of the time axis: round steps (1, 2, 5), and one unit for the whole axis so that labels compare. */
import { spanOf, type Range } from './viewport.ts';

interface Tick {
  us: number;
  label: string;
}

/** A round step that leaves at least `minPx` between ticks. Microseconds. */
export function stepFor(usPerPx: number, minPx: number): number {
  const raw = usPerPx * minPx;
  const power = 10 ** Math.floor(Math.log10(raw));
  for (const factor of [1, 2, 5]) if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

/** Ticks within the range, at most one every `minPx`. @param width px of the axis */
export function ticksOf(range: Range, width: number, minPx = 90): Tick[] {
  if (width <= 0 || !(spanOf(range) > 0)) return [];
  const step = stepFor(spanOf(range) / width, minPx);
  const label = labeller(step, Math.max(Math.abs(range.from), Math.abs(range.to)));
  const ticks: Tick[] = [];
  for (let n = Math.ceil(range.from / step); n * step <= range.to; n++)
    ticks.push({ us: n * step, label: label(n * step) });
  return ticks;
}

/** The unit is the step's; far from zero at a fine step, the larger unit keeps the number readable. */
function labeller(step: number, furthest: number): (us: number) => string {
  const unit = furthest >= 1e6 && step >= 1e3 ? 1e6 : furthest >= 1e3 && step >= 0.1 ? 1e3 : 1;
  const name = unit === 1e6 ? 's' : unit === 1e3 ? 'ms' : 'µs';
  const decimals = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
  return (us) => `${(us / unit).toFixed(decimals).replace(/^-(0(\.0*)?)$/, '$1')} ${name}`;
}
