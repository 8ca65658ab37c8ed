/**
 * Growth along a sweep: the axes, a curve for each step or each other configuration, and its slope.
 */
import { describe, expect, it } from 'vitest';
import { resultOf } from '../../src/lab/experiments/model/aggregate.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import type { Config } from '../../src/lab/experiments/model/types.ts';
import type { RunResult, Sample } from '../../src/lab/experiments/model/result-types.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { slopeOf, slopeWords, sweepAxes, sweepOf } from '../../src/lab/experiments/model/sweep.ts';

const kv = workloadOf('kv-sweep');
/**
 * Inserts cost in proportion to their number, raw puts to its power of 1.5, and opening costs the
 * same.
 */
function result(items: number, config: Partial<Config> = {}): RunResult {
  const steps: Sample['steps'] = [
    { id: 'insert', title: `insert ${items} rows`, counters: { ms: items } },
    { id: 'reopen', title: 'open', counters: { ms: 3, 'vfs.xRead': 0 } },
    { id: 'raw-put', title: 'raw', counters: { ms: items ** 1.5 } },
  ];
  const sample: Sample = { steps, digest: 'd/0', notes: [], settings: {} };
  return resultOf(
    runOf(kv, { config, parameters: { items } }, { mode: 'time', repeats: 1 }),
    kv,
    [sample],
    {},
  );
}
const sweep = [result(10_000), result(100), result(1000)];
const ITEMS = { key: 'items', title: 'items', of: 'parameter' } as const;

describe('the swept parameter', () => {
  it('numbers with three or more values, the one with the most first', () => {
    expect(sweepAxes(sweep)).toEqual([ITEMS]);
    expect(sweepAxes([...sweep, null].slice(1))).toEqual([]); // two values
    const pages = [1024, 2048, 4096, 8192].flatMap((pageSize) =>
      [100, 1000, 10_000].map((n) => result(n, { pageSize })),
    );
    expect(sweepAxes(pages).map(({ key }) => key)).toEqual(['pageSize', 'items']);
    expect(
      sweepAxes([result(100), result(100, { pageSize: 1024 }), result(100, { pageSize: 4096 })]),
    ).toEqual([]); // one by default
    expect(sweepAxes([])).toEqual([]);
  });
});

describe('curves', () => {
  it('one for each step, the highest first, with points by rising x, and their slopes', () => {
    const { curves, logarithmic } = sweepOf(sweep, ITEMS, 'total', 'ms');
    expect(curves.map(({ name, points }) => [name, points.map(({ x }) => x)])).toEqual([
      ['raw-put', [100, 1000, 10_000]],
      ['insert', [100, 1000, 10_000]],
      ['reopen', [100, 1000, 10_000]],
    ]);
    expect(
      curves.map(({ slope, lastSlope }) => [slope!.toFixed(3), lastSlope!.toFixed(3)]),
    ).toEqual([
      ['1.500', '1.500'],
      ['1.000', '1.000'],
      ['0.000', '0.000'],
    ]);
    expect(logarithmic).toBe(true);
  });
  it('one for each configuration, of the selected step, if runs differ in more than one parameter', () => {
    const both = (['MemoryVFS', 'memory'] as const).flatMap((vfs) =>
      [100, 200, 300].map((n) => result(n, { vfs })),
    );
    const { curves, logarithmic } = sweepOf(both, ITEMS, 'insert', 'ms');
    expect(curves.map(({ name, points }) => [name, points.map(({ y }) => y)])).toEqual([
      ['MemoryVFS', [100, 200, 300]],
      ['memory', [100, 200, 300]],
    ]);
    expect(logarithmic).toBe(false); // less than a decade
  });
  it('one for runs that differ in a parameter that the first run lacks', () => {
    const runs = [100, 200, 300].flatMap((items) =>
      ([{}, { hot: 100 }] as Record<string, number>[]).map((more): RunResult => {
        const one = result(items);
        return { ...one, run: { ...one.run, parameters: { items, ...more } } };
      }),
    );
    const { curves } = sweepOf(runs, ITEMS, 'insert', 'ms');
    expect(curves.map(({ points }) => points.map(({ x }) => x))).toEqual([
      [100, 200, 300],
      [100, 200, 300],
    ]);
  });
  it('names the differing parameter of its own workload, with its value', () => {
    const of = (workload: string, parameters: Record<string, number>): RunResult => {
      const one = result(100);
      return { ...one, run: { ...one.run, workload, parameters } };
    };
    const runs = [100, 200, 300].flatMap((items) => [
      of('cold-start', { items, hot: 5 }),
      of('big-sort', { items, mode: 0 }),
      of('big-sort', { items, mode: 1 }),
      // no curve: nothing to distinguish it from
      ...(items === 100 ? [of('cold-start', { items, hot: 7 })] : []),
    ]);
    const { curves } = sweepOf(runs, ITEMS, 'insert', 'ms');
    expect(curves.map(({ name }) => name).sort()).toEqual([
      'big-sort, mode 0',
      'big-sort, mode 1',
      'cold-start',
    ]);
  });
  it("a value that means off isn't a point", () => {
    const off = { key: 'walAutocheckpoint', title: '', of: 'setting' } as const;
    const runs = [0, 10, 20, 30].map((walAutocheckpoint) => result(100, { walAutocheckpoint }));
    const [curve] = sweepOf(runs, off, 'insert', 'ms').curves;
    expect(curve!.points.map(({ x }) => x)).toEqual([10, 20, 30]);
  });
  it('what is unknown or always 0 has none', () => {
    expect(sweepOf(sweep, ITEMS, 'total', 'block.put').curves).toEqual([]);
    expect(sweepOf(sweep, ITEMS, 'total', 'vfs.xRead').curves).toEqual([]);
  });
});

it('a slope needs numbers above 0, at two places', () => {
  const zero = [1, 2, 3].map((x) => ({ x, y: x === 3 ? 0 : x }));
  expect(slopeOf(zero)).toBeNull();
  expect(slopeOf([{ x: 1, y: 1 }])).toBeNull();
  expect(
    slopeOf([
      { x: 1, y: 0 },
      { x: 2, y: 5 },
    ]),
  ).toBeNull();
  expect(
    slopeOf([
      { x: 2, y: 1 },
      { x: 2, y: 5 },
    ]),
  ).toBeNull();
  expect(
    slopeOf([
      { x: 1, y: 8 },
      { x: 2, y: 2 },
    ]),
  ).toBe(-2);
  expect([null, 0.02, -0.5, 0.5, 1.05, 1.4].map(slopeWords)).toEqual([
    'n/a',
    'does not grow',
    'falls',
    'better than linear',
    'linear',
    'worse than linear',
  ]);
});
