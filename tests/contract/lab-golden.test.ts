/**
 * Exact instruction counts: the same SQL on the same build has the same count, in any engine, on
 * any machine.
 */
import { describe, expect, it } from 'vitest';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { sampleOf } from '../../src/lab/experiments/run.ts';
import { DEFAULT_CONFIG, type Config, type Run } from '../../src/lab/experiments/model/types.ts';
import { IN_MEMORY, MEMORY, ON_MEMORY_VFS } from './lab-counts.ts';

const around = nodeSurroundings();
const sums = async (run: Run, ...counters: string[]): Promise<number[]> => {
  const { steps } = await sampleOf(run, around);
  return counters.map((name) => steps.reduce((sum, s) => sum + s.counters[name]!, 0));
};
const runOf = (workload: string, config: Partial<Config>, readRows = true): Run => ({
  readRows,
  workload,
  parameters: {},
  config: { ...DEFAULT_CONFIG, ...config },
  mode: 'count',
  repeats: 1,
  seed: 12345,
});
const counted = async (...of: Parameters<typeof runOf>): Promise<number> =>
  (await sums(runOf(...of), 'instructions'))[0]!;

describe('instructions on :memory:', () => {
  it.each(Object.entries(IN_MEMORY))('%s', async (workload, [current, old]) => {
    expect(await counted(workload, { vfs: 'memory' })).toBe(current);
    expect(await counted(workload, { vfs: 'memory' })).toBe(current);
    expect(await counted(workload, { vfs: 'memory', engine: 'wa-sqlite-1.0.0' })).toBe(old);
  });
});

describe('instructions on a VFS', () => {
  it.each(ON_MEMORY_VFS)('%o', async (config, ac60, mix) => {
    expect(await counted('ac60', config, false)).toBe(ac60);
    expect(await counted('mix', config, false)).toBe(mix);
  });
});

describe('loads and stores next to them', () => {
  it.each(Object.entries(MEMORY))('%s', async (workload, [loads, stores]) => {
    const run: Run = { ...runOf(workload, { vfs: 'memory' }), memory: true };
    const wanted = [IN_MEMORY[workload]![0], loads, stores];
    for (let i = 0; i < 2; i++)
      expect(await sums(run, 'instructions', 'memory.loads', 'memory.stores')).toEqual(wanted);
  });
});
