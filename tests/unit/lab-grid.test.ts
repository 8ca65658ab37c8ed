/**
 * The Lab's grid: the runs that selected settings and parameters make, and the names of their
 * columns.
 */
import { describe, expect, it } from 'vitest';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { DEFAULT_CONFIG } from '../../src/lab/experiments/model/types.ts';
import { isBuildFor } from '../../src/lab/experiments/worker/builds-here.ts';
import { FAULT_KEYS } from '../../src/lab/experiments/model/faults.ts';
import { headings, KNOBS, labelOf } from '../../src/lab/experiments/model/knobs.ts';
import { completeConfig, ownValues, parameterKnobs, runsOfGrid } from '../../src/lab/page/grid.ts';

describe('parameters of a workload', () => {
  it('offers its own value, the limits, and steps between them', () => {
    expect(parameterKnobs(workloadOf('kv-sweep'))).toEqual([
      {
        name: 'items',
        what: 'rows',
        own: 20_000,
        values: [100, 1000, 10_000, 20_000, 100_000, 1_000_000],
      },
    ]);
    expect(
      parameterKnobs(workloadOf('contention')).map(({ name, values }) => [name, values]),
    ).toEqual([
      ['writers', [0, 1, 2, 4, 8]],
      ['readers', [0, 1, 2, 3, 4, 8]],
      ['iterations', [1, 10, 100, 200, 1000, 10_000, 100_000]],
    ]);
    expect(
      parameterKnobs(workloadOf('checkpoint-storm')).find(({ name }) => name === 'mode')!.values,
    ).toEqual([0, 1, 2, 3, 4]);
    expect(parameterKnobs(workloadOf('mix'))).toEqual([]);
  });

  it('every combination with the settings is a run; with no selection the workload runs unchanged', () => {
    const kv = workloadOf('kv-sweep');
    expect(runsOfGrid(kv, {}, 'count').map((r) => r.parameters)).toEqual([{ items: 20_000 }]);
    const runs = runsOfGrid(
      kv,
      { pageSize: [4096, 8192], vfs: ['MemoryVFS'] },
      'count',
      {},
      { items: [100, 1000, 100] },
    );
    expect(runs.map((r) => [r.config.pageSize, r.parameters.items])).toEqual([
      [4096, 100],
      [4096, 1000],
      [8192, 100],
      [8192, 1000],
    ]);
    expect(headings(runs)).toEqual([
      '4 KiB pages, 100 items',
      '4 KiB pages, 1,000 items',
      '8 KiB pages, 100 items',
      '8 KiB pages, 1,000 items',
    ]);
    expect(headings(runsOfGrid(kv, {}, 'count', {}, { items: [100, 1000] }))).toEqual([
      '100 items',
      '1,000 items',
    ]);
    expect(() => runsOfGrid(kv, {}, 'count', {}, { items: [7] })).toThrow(/from 100 to 1000000/);
  });
});

describe('builds and the other settings', () => {
  const mix = workloadOf('mix');
  const builds = (choices: Parameters<typeof runsOfGrid>[1]): string[] =>
    runsOfGrid(mix, choices, 'count').map(
      ({ config }) => `${config.vfs} ${config.engine.slice(-5)} ${config.build}`,
    );
  it('a selected build is the one that runs, or has no column; without a selection it is what the VFS needs', () => {
    expect(builds({ vfs: ['MemoryVFS', 'BlockIDB'] })).toEqual([
      'MemoryVFS 2.0.6 sync',
      'BlockIDB 2.0.6 asyncify',
    ]); // Node 20 has no JSPI
    expect(builds({ vfs: ['MemoryVFS', 'BlockIDB'], build: ['sync', 'asyncify'] })).toEqual([
      'MemoryVFS 2.0.6 sync',
      'MemoryVFS 2.0.6 asyncify',
      'BlockIDB 2.0.6 asyncify',
    ]);
    expect(isBuildFor('jspi', { vfs: 'BlockIDB', engine: 'wa-sqlite-2.0.6' }, true)).toBe(true);
    expect(isBuildFor('jspi', { vfs: 'BlockIDB', engine: 'wa-sqlite-1.0.0' }, true)).toBe(false);
    expect(isBuildFor('jspi', { vfs: 'MemoryVFS', engine: 'wa-sqlite-2.0.6' }, false)).toBe(false);
  });
  it('every setting of a configuration is in the grid, and each value has its own name', () => {
    expect(KNOBS.map(({ key }) => key).sort()).toEqual(
      [...Object.keys(DEFAULT_CONFIG), ...FAULT_KEYS].sort(),
    );
    for (const { key, values } of KNOBS) {
      const names = values.map((value) => labelOf(key, value));
      expect([key, new Set(names).size]).toEqual([key, names.length]);
    }
  });
  it('durability applies only to BlockIDB, like its other settings', () => {
    const configs = runsOfGrid(
      mix,
      { vfs: ['BlockIDB', 'MemoryVFS'], durability: ['relaxed', 'strict'] },
      'count',
    ).map(({ config }) => config);
    expect(configs.map(({ vfs, durability }) => [vfs, durability])).toEqual(
      [
        ['BlockIDB', 'relaxed'],
        ['MemoryVFS', null],
        ['BlockIDB', 'strict'],
      ].sort(),
    );
  });
});

it("the grid marks a workload's own values, and in a trial those that Try it runs", () => {
  const own = ownValues(workloadOf('kv-sweep'), null);
  expect([own('vfs'), own('synchronous')]).toEqual([['MemoryVFS'], ['normal']]);
  const trial = ownValues(
    workloadOf('own-sql', 'SELECT 1;'),
    (['delete', 'wal'] as const).map((journalMode) =>
      completeConfig({ vfs: 'AccessHandlePool', journalMode, synchronous: 'full' }),
    ),
  );
  expect(trial('vfs')).toEqual(['AccessHandlePool']);
  expect(trial('journalMode')).toEqual(['delete', 'wal']);
  expect([trial('synchronous'), trial('pageSize')]).toEqual([['full'], [null]]);
});
