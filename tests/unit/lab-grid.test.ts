/** The Lab's grid: which runs a choice of settings and parameters makes, and what their columns are called. */
import { describe, expect, it } from 'vitest';
import { workloadOf } from '../../src/experiments/workloads/index.ts';
import { headings, parameterKnobs, runsOfGrid } from '../../src/lab/grid.ts';

describe('parameters of a workload', () => {
  it('offers its own value, the ends, and steps between', () => {
    expect(parameterKnobs(workloadOf('kv-sweep'))).toEqual([
      { name: 'items', what: 'rows', own: 20_000, values: [100, 1000, 10_000, 20_000, 100_000, 1_000_000] },
    ]);
    expect(parameterKnobs(workloadOf('contention')).map(({ name, values }) => [name, values])).toEqual([
      ['writers', [0, 1, 2, 4, 8]],
      ['readers', [0, 1, 2, 3, 4, 8]],
      ['iterations', [1, 10, 100, 200, 1000, 10_000, 100_000]],
    ]);
    expect(parameterKnobs(workloadOf('mix'))).toEqual([]);
  });

  it('every combination with the settings is a run; nothing chosen is the workload as it is', () => {
    const kv = workloadOf('kv-sweep');
    expect(runsOfGrid(kv, {}, 'count').map((r) => r.parameters)).toEqual([{ items: 20_000 }]);
    const runs = runsOfGrid(kv, { pageSize: [4096, 8192], vfs: ['MemoryVFS'] }, 'count', {}, { items: [100, 1000, 100] });
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
    expect(headings(runsOfGrid(kv, {}, 'count', {}, { items: [100, 1000] }))).toEqual(['100 items', '1,000 items']);
    expect(() => runsOfGrid(kv, {}, 'count', {}, { items: [7] })).toThrow(/from 100 to 1000000/);
  });
});
