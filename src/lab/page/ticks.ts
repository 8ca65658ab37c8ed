/** Where a chart's axis has its ticks. */
import { stepFor } from '../../viewer/ui/charts/time-axis.ts';

/** Ticks of an axis from `least` to `most`: round numbers, or powers of ten and their like; at most about eight. */
export function ticksOf(least: number, most: number, logarithmic: boolean): number[] {
  if (!(most > least)) return [least];
  if (!logarithmic) {
    const step = stepFor((most - least) / 5, 1);
    return Array.from(
      { length: Math.floor(most / step) - Math.ceil(least / step) + 1 },
      (_, i) => (Math.ceil(least / step) + i) * step,
    );
  }
  const [low, high] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))];
  const every = Math.max(1, Math.ceil((high - low) / 8));
  const powers = Array.from(
    { length: Math.floor((high - low) / every) + 1 },
    (_, i) => 10 ** (low + i * every),
  );
  const ticks = high - low <= 2 ? powers.flatMap((p) => [p, 2 * p, 5 * p]) : powers;
  return ticks.filter((t) => t >= least * 0.999 && t <= most * 1.001);
}
