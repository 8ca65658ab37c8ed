/**
 * What a chart of series draws: scales, ticks, the value under the pointer, and the paths of
 * series.
 */
import { describe, expect, it } from 'vitest';
import {
  formatOf,
  pathOf,
  placeAt,
  placedTexts,
  scaleOf,
  spaced,
  ticksOf,
  type Axis,
} from '../../src/viewer/ui/parts/chart/series.ts';

const axis = (kind: Axis['kind'], from: number, to: number, more: Partial<Axis> = {}): Axis => ({
  kind,
  from,
  to,
  ...more,
});
const values = (of: Axis, most: number): number[] => ticksOf(of, most, 1).map(({ at }) => at);
const labels = (of: Axis, most: number): string[] => ticksOf(of, most, 1).map(({ label }) => label);

describe('a scale', () => {
  it('goes from end to end, also downwards, and by powers on a logarithmic axis', () => {
    expect([0, 5, 10].map(scaleOf(axis('number', 0, 10), 100, 200))).toEqual([100, 150, 200]);
    expect(scaleOf(axis('number', 0, 10), 200, 100)(1)).toBe(190);
    expect(scaleOf(axis('logarithmic', 1, 100), 0, 100)(10)).toBeCloseTo(50, 9);
  });
  it('has the middle for a single value, however large', () => {
    expect(scaleOf(axis('number', 2e7, 2e7), 0, 100)(2e7)).toBe(50);
    expect(scaleOf(axis('logarithmic', 5, 5), 0, 100)(5)).toBe(50);
  });
});

describe('ticks', () => {
  it('are round, few, and within the axis', () => {
    const log = (from: number, to: number): number[] =>
      values(axis('logarithmic', from, to), 5).map((t) => Number(t.toPrecision(6)));
    expect(log(100, 10_000)).toEqual([100, 200, 500, 1000, 2000, 5000, 10_000]);
    expect(log(0.07, 900)).toEqual([0.1, 1, 10, 100]);
    expect(values(axis('number', 0, 100), 5)).toEqual([0, 20, 40, 60, 80, 100]);
    expect(values(axis('number', 5, 5), 5)).toEqual([5]);
    expect(log(1e-3, 1e30).length).toBeLessThan(9);
    expect(values(axis('number', -70, 40), 5)).toEqual([-50, 0]);
  });
  it('of counts are whole, of bytes powers of two, of moments in one unit, or the given ones', () => {
    expect(labels(axis('count', 0, 2), 9)).toEqual(['0', '1', '2']);
    expect(labels(axis('number', 0, 2), 4)).toEqual(['0', '0.5', '1', '1.5', '2']);
    expect(labels(axis('bytes', 0, 70_000), 5)).toEqual([
      '0 B',
      '16 KiB',
      '32 KiB',
      '48 KiB',
      '64 KiB',
    ]);
    expect(ticksOf(axis('time', 0, 2e6), 500, 1)[1]).toEqual({ at: 5e5, label: '0.5 s' });
    const given = axis('count', 1, 9, { ticks: [1, 3, 9], format: (n) => `${n} x` });
    expect(labels(given, 2)).toEqual(['1 x', '3 x', '9 x']);
    expect(formatOf(axis('time', 0, 1))(1_500_000)).toBe('1.500000 s');
  });
  it('too close to the last labeled one have no label', () => {
    const ticks = [0, 30, 60, 200].map((at) => ({ at, label: `${at}` }));
    expect(spaced(ticks, (at) => at, 56).map(({ label }) => label)).toEqual(['0', '', '60', '200']);
  });
});

describe('labels of lines', () => {
  it("are to the right of them, at the plot's end to the left, and above each other if they would overlap", () => {
    const marks = [100, 130, 480, 300].map((px) => ({ px, text: '0123456789' }));
    expect(placedTexts(marks, 68, 500)).toEqual([
      { x: 104, anchor: 'start', row: 0 },
      { x: 134, anchor: 'start', row: 1 },
      { x: 476, anchor: 'end', row: 0 },
      { x: 304, anchor: 'start', row: 0 },
    ]);
    expect(placedTexts([], 68, 500)).toEqual([]);
  });
  it('that fit on neither side begin where the plot does', () => {
    expect(placedTexts([{ px: 150, text: 'x'.repeat(50) }], 68, 200)).toEqual([
      { x: 368, anchor: 'end', row: 0 },
    ]);
  });
});

it('the value at the pointer is the nearest, or the one that applies there', () => {
  expect([-5, 4, 6, 99].map((px) => placeAt([0, 10, 20], px, false))).toEqual([0, 0, 1, 2]);
  expect([-5, 9.9, 10, 99].map((px) => placeAt([0, 10, 20], px, true))).toEqual([-1, 0, 1, 2]);
  expect(placeAt([], 5, false)).toBe(-1);
});

describe('a path', () => {
  const base = [100, 100, 100];
  it('of a line connects its points across a gap', () => {
    expect(pathOf('line', [0, 10, 20, 30], [50, NaN, 40], base)).toBe('M0.0,50.0L20.0,40.0');
    expect(pathOf('line', [0, 10], [NaN], [100])).toBe('');
  });
  it('of steps holds each value until the next one, and ends where there is none', () => {
    expect(pathOf('steps', [0, 10, 20, 30], [50, 40, 40], base)).toBe(
      'M0.0,50.0H10.0L10.0,40.0H20.0L20.0,40.0H30.0',
    );
    expect(pathOf('steps', [0, 10, 20, 30], [50, NaN, 40], base)).toBe(
      'M0.0,50.0H10.0M20.0,40.0H30.0',
    );
  });
  it('of an area has its base', () => {
    expect(pathOf('area', [0, 10, 20], [50, 40], base)).toBe(
      'M0.0,100.0L0.0,50.0H10.0L10.0,40.0H20.0V100.0z',
    );
  });
  it('of bars has a column for each value above 0, at least one pixel tall and wide', () => {
    expect(pathOf('bars', [0, 10, 20, 21], [60, 100, 99.9], base)).toBe(
      'M0.0,100.0v-40.0h9.5v40.0zM20.0,100.0v-1.0h1.0v1.0z',
    );
  });
});
