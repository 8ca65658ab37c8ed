/** Time without its long pauses: positions of moments, ticks, and combined frames. */
import { describe, expect, it } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { foldedFrames } from '../../src/timeline/folded-frames.ts';
import { TimelineLanes } from '../../src/timeline/timeline-lanes.ts';
import { longPauses } from '../../src/viewer/session/queries/time-strips.ts';
import { FoldedTime } from '../../src/viewer/ui/charts/folded-time.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

const time = new FoldedTime([
  { from: 2000, to: 9000 },
  { from: 10_000, to: 20_000 },
]);

describe('folded time', () => {
  it('positions each moment without the pauses before it, and back', () => {
    expect([0, 2000, 5000, 9000, 9500, 15_000, 21_000].map((us) => time.fold(us))).toEqual([
      ...[0, 2000, 2000, 2000, 2500, 3000, 4000],
    ]);
    expect([0, 1999, 2500, 3500, 4000].map((at) => time.unfold(at))).toEqual([
      ...[0, 1999, 9500, 20_500, 21_000],
    ]);
    expect(time.marks({ from: 0, to: 2500 })).toEqual([{ at: 2000, us: 7000 }]);
  });
  it('has ticks that show real time', () => {
    const ticks = time.ticks({ from: 0, to: 4000 }, 1200);
    const at = (folded: number): string | undefined =>
      ticks.find((tick) => Math.abs(tick.at - folded) < 1e-6)?.label;
    expect([at(1000), at(2500), at(3500)]).toEqual(['1.0 ms', '9.5 ms', '20.5 ms']);
  });
});

describe('frames without the pauses', () => {
  const store = newStore();
  const b = new ThreadBuilder(store, { name: 'db' });
  const sql = b.define({ kind: 'sql', text: 'SELECT 1' });
  for (let burst = 0; burst < 3; burst++) {
    for (let i = 0; i < 10; i++) b.call('sqlStep', { object: sql, dur: 1000, aux: 1, result: 101 });
    b.idle(1_000_000);
  }
  b.send();
  const facts = new Facts(store);
  const pauses = longPauses(facts);

  it('leave out the time between two bursts, except a small margin', () => {
    expect(pauses.map(({ from, to }) => [Math.round(from), Math.round(to)])).toEqual([
      [10_120, 1_009_880],
      [1_020_120, 2_019_880],
    ]);
  });
  it('are the parts side by side, in whole columns, each with its labels', () => {
    const lanes = new TimelineLanes(store);
    lanes.update(b.now);
    lanes.settle(facts);
    const folded = 30_000 + 4 * 120;
    const [frame] = foldedFrames({ from: 0, to: folded, width: 3048 }, pauses, (from, to, width) =>
      lanes.frames(['0:sql'], from, to, width),
    );
    const busy = [...frame!.busy].filter((share) => share > 0).length;
    expect(busy).toBeGreaterThanOrEqual(3000);
    expect(busy).toBeLessThanOrEqual(3006);
    const slices = Array.from({ length: frame!.slices.length / 5 }, (_, i) => [
      frame!.slices[5 * i + 1]!,
      frame!.labels[frame!.slices[5 * i + 4]!],
    ]);
    expect(slices).toHaveLength(30);
    expect(new Set(slices.map(([, label]) => label))).toEqual(new Set(['SELECT 1']));
    expect(slices[10]![0]).toBeGreaterThan(1020);
    expect(slices[10]![0]).toBeLessThan(1030);
  });
  it('are those of real time if nothing is left out', () => {
    const lanes = new TimelineLanes(store);
    lanes.update(b.now);
    const real = lanes.frames(['0:sql'], 0, 20_000, 500);
    const same = foldedFrames({ from: 0, to: 20_000, width: 500 }, [], (from, to, width) =>
      lanes.frames(['0:sql'], from, to, width),
    );
    expect(same).toEqual(real);
  });
});
