// How often the Lab tells two times apart that measure the same work.
import { expect, it } from 'vitest';
import { spreadOf } from '../../src/lab/experiments/model/aggregate.ts';
import { isNoise, uncertainty } from '../../src/lab/experiments/model/assertions.ts';
import type { Placed } from '../../src/lab/experiments/model/result-types.ts';
import { seeded } from '../../src/lab/experiments/workloads/random.ts';

const PAIRS = 4000;
const draw = seeded(7);
const fraction = (): number => (draw(1e9) + 1) / (1e9 + 1);
/** Scattered by a tenth (Box-Muller). */
const time = (ms: number): number =>
  ms * (1 + 0.1 * Math.sqrt(-2 * Math.log(fraction())) * Math.cos(2 * Math.PI * fraction()));
function measured(ms: number, passes: number): Placed {
  const spread = spreadOf(Array.from({ length: passes }, () => time(ms)));
  return { value: spread.median, spread, stepMs: 0 };
}
/** Share of pairs that read as different. */
function toldApart(passes: number, ratio: number): number {
  let apart = 0;
  for (let i = 0; i < PAIRS; i++) {
    const [a, b] = [measured(100, passes), measured(100 * ratio, passes)];
    if (!isNoise(b.value - a.value, [uncertainty(a), uncertainty(b)])) apart++;
  }
  return apart / PAIRS;
}

it.each([
  [3, 0.22, 0.32],
  [5, 0.09, 0.16],
  [9, 0.02, 0.06],
])(
  'with %d passes, two equal times differ beyond the noise in the documented share',
  (n, from, to) => {
    const share = toldApart(n, 1);
    expect(share).toBeGreaterThan(from);
    expect(share).toBeLessThan(to);
  },
);
it('with 5 passes, half as long is told apart', () => {
  expect(toldApart(5, 0.5)).toBeGreaterThan(0.95);
});
