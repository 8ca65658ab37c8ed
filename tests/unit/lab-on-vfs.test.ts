/**
 * The VFS that experiments run on: storage in a browser, memory in Node, or the selected one. Their
 * titles name it.
 */
import { describe, expect, it } from 'vitest';
import { EXPERIMENTS } from '../../src/lab/experiments/documents/index.ts';
import { ALL_EXPERIMENTS, experimentFor } from '../../src/lab/experiments/documents/tries.ts';
import { VFS_NAMES } from '../../src/lab/experiments/model/types.ts';
import { placeOf } from '../../src/lab/experiments/model/vfs-facts.ts';
import { onVfs, offersVfs } from '../../src/lab/experiments/on-vfs.ts';
import { runsOf } from '../../src/lab/experiments/plan.ts';

const OPTIONS = { mode: 'time', repeats: 1 } as const;
const vfsOf = (id: string, where: 'browser' | 'node'): string[] => [
  ...new Set(
    [...runsOf(onVfs(experimentFor(id)!, [], where), {}, OPTIONS).values()].map(
      ({ config }) => config.vfs,
    ),
  ),
];

describe('by default', () => {
  it.each(['commit-share', 'checkpointing', 'durability'])(
    '%s runs on OPFS and IndexedDB in a browser, in memory in Node',
    (id) => {
      expect(vfsOf(id, 'browser')).toEqual(['AccessHandlePool', 'BlockIDB']);
      expect(vfsOf(id, 'node')).toEqual(['MemoryVFS']);
      expect(onVfs(experimentFor(id)!, [], 'node').title).toMatch(/, on MemoryVFS \(in memory\)$/);
      expect(onVfs(experimentFor(id)!, [], 'browser').title).toMatch(
        /, on AccessHandlePool \(OPFS\) and BlockIDB \(IndexedDB\)$/,
      );
    },
  );
  it('every title of every experiment and variant names its VFS', () => {
    for (const experiment of ALL_EXPERIMENTS)
      for (const where of ['browser', 'node'] as const) {
        const placed = onVfs(experiment, [], where);
        expect(placed.title).toMatch(/, on .*\((?:OPFS|IndexedDB|in memory)/);
        for (const { id, run } of [...runsOf(placed, {}, OPTIONS)].map(([id, run]) => ({
          id,
          run,
        }))) {
          const { title } = placed.variants.find((v) => v.id === id)!;
          const name = run.config.vfs === 'memory' ? ':memory:' : run.config.vfs;
          expect(title).toContain(`${name} (`);
        }
      }
  });
});

it('with a fault profile every experiment has a run on storage, where a device can fail', () => {
  for (const experiment of ALL_EXPERIMENTS) {
    const placed = onVfs(experiment, [], 'browser', {
      slowFlush: null,
      refusedHandle: null,
      quota: 1,
    });
    const places = [...runsOf(placed, { config: { quota: 1 } }, OPTIONS).values()].map(
      ({ config }) => placeOf(config.vfs),
    );
    expect([experiment.id, places.some((place) => place !== 'in memory')]).toEqual([
      experiment.id,
      true,
    ]);
  }
});

describe('selected', () => {
  it('one VFS: the same variants, on it', () => {
    const share = EXPERIMENTS.find(({ id }) => id === 'commit-share')!;
    const placed = onVfs(share, ['IDBBatchAtomic'], 'browser');
    expect(placed.variants.map(({ id }) => id)).toEqual(share.variants.map(({ id }) => id));
    expect(placed.expectations).toEqual(share.expectations);
    expect(new Set(placed.variants.map(({ config }) => config.vfs))).toEqual(
      new Set(['IDBBatchAtomic']),
    );
  });
  it('several: each variant on each, compared with the baseline on the same VFS, and expectations decided on each', () => {
    const durability = experimentFor('durability')!;
    const placed = onVfs(durability, ['AccessHandlePool', 'OPFSCoopSync'], 'browser');
    expect(placed.variants.map(({ id, against }) => [id, against])).toEqual(
      ['AccessHandlePool', 'OPFSCoopSync'].flatMap((vfs) =>
        ['full', 'normal', 'off'].map((id) => [`${id}@${vfs}`, `full@${vfs}`]),
      ),
    );
    expect(placed.expectations).toHaveLength(2 * durability.expectations.length);
    expect(placed.expectations[1]).toMatchObject({
      text: `${durability.expectations[0]!.text} (OPFSCoopSync)`,
      left: { variant: 'normal@OPFSCoopSync' },
      right: { variant: 'full@OPFSCoopSync' },
    });
  });
  it("if each variant has its own VFS, several can't be selected; one replaces it", () => {
    const policy = experimentFor('write-policy')!;
    expect(offersVfs(policy)).toBe(false);
    expect(() => onVfs(policy, VFS_NAMES.slice(0, 2), 'browser')).toThrow(/one VFS at most/);
    expect(
      new Set(onVfs(policy, ['MemoryVFS'], 'node').variants.map(({ config }) => config.vfs)),
    ).toEqual(new Set(['MemoryVFS']));
  });
});
