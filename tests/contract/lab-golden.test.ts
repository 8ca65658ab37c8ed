/** Instruction counts to the last digit: the same text on the same build, in any engine, on any machine. */
import { describe, expect, it } from 'vitest';
import { nodeSurroundings } from '../../src/cli/lab-node.ts';
import { sampleOf } from '../../src/experiments/run.ts';
import { DEFAULT_CONFIG, type Config, type Run } from '../../src/experiments/types.ts';

const around = nodeSurroundings();
const counted = async (workload: string, config: Partial<Config>, readRows = true): Promise<number> => {
  const run: Run = { readRows, workload, parameters: {}, config: { ...DEFAULT_CONFIG, ...config }, mode: 'count', repeats: 1, seed: 12345 };
  const { steps } = await sampleOf(run, around);
  return steps.reduce((sum, s) => sum + s.counters.instructions!, 0);
};

/** Measured independently of this code: Chromium, Firefox and Node agreed on all of them. Order: 2.0.6, 1.0.0. */
const IN_MEMORY: Readonly<Record<string, readonly [number, number?]>> = {
  noindex: [897_971_077, 932_058_103],
  index: [225_207_642, 285_562_166],
  like: [897_581_590, 1_178_344_309],
  instr: [663_838_292, 805_290_885],
  autocommit: [31_773_826, 180_338_127],
  onetx: [20_993_381, 33_547_370],
  multirow: [8_819_114, 19_113_216],
  rowid: [72_165_421, 118_216_542],
  'without-rowid': [67_505_746, 111_643_139],
  'micro-1': [163_071_824, 198_371_697],
  'micro-2': [163_071_903, 198_371_782],
  'micro-3': [163_071_899, 198_371_795],
  ac60: [1_491_318, 7_611_740],
  mix: [75_164_869, 125_708_421],
};

describe('instructions on :memory:', () => {
  it.each(Object.entries(IN_MEMORY))('%s', async (workload, [current, old]) => {
    expect(await counted(workload, { vfs: 'memory' })).toBe(current);
    expect(await counted(workload, { vfs: 'memory' })).toBe(current);
    expect(await counted(workload, { vfs: 'memory', engine: 'wa-sqlite-1.0.0' })).toBe(old);
  });
});

/** Asyncify's tax stands in the lower rows: 3.2 times on commits, 1.56 times in bulk. JSPI needs a browser. */
const ON_A_VFS: readonly (readonly [Partial<Config>, ac60: number, mix: number])[] = [
  [{ vfs: 'MemoryVFS' }, 1_588_261, 74_995_327],
  [{ vfs: 'MemoryVFS', build: 'asyncify' }, 2_709_493, 116_495_584],
  [{ vfs: 'MemoryAsyncVFS', build: 'asyncify' }, 2_709_493, 116_495_584],
];

describe('instructions on a VFS', () => {
  it.each(ON_A_VFS)('%o', async (config, ac60, mix) => {
    expect(await counted('ac60', config, false)).toBe(ac60);
    expect(await counted('mix', config, false)).toBe(mix);
  });
});
