// Which VFS a recording was made on: certain by build and files, otherwise a guess that is marked
// as one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordedVfs, type RecordedVfs } from '../../src/lab/experiments/replay/recorded-vfs.ts';
import { recordedOn } from '../../src/lab/results/replay.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import type { Definition } from '../../src/event/definitions.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';

const golden = async (name: string): Promise<TraceStore> =>
  (
    await readTrace(
      readFileSync(join(import.meta.dirname, '..', 'traces', 'golden', `${name}.vfst`)),
    )
  ).store;
const of = (store: TraceStore): RecordedVfs => recordedVfs(store, summaryOf(store));

describe('real recordings', () => {
  it.each([
    ['opfs-coop-sync', 'OPFSCoopSync', true, /“\.ahp-…”/],
    ['idb-batch-atomic', 'IDBBatchAtomic', true, /“blocks” and “metadata”/],
    ['opfs-sahpool', 'opfs-sahpool', true, /its build names it “opfs-sahpool”/],
    ['opfs-proxy', 'opfs', true, /its build names it “opfs”/],
    ['opfs-wl-two-tabs', 'opfs-wl', true, /its build names it “opfs-wl”/],
    ['kvvfs', null, true, /sqlite\.org's VFS “kvvfs”/],
    ['absurd-sql', 'absurd-sql', true, /absurd-sql, which has its own VFS/],
    ['sql-js-export', 'MemoryVFS', false, /sql\.js keeps its files in memory/],
    ['memory-delete', 'MemoryVFS', false, /no storage call/],
  ])('%s: %s, certain: %s', async (name, vfs, certain, why) => {
    const found = of(await golden(name));
    expect(found).toMatchObject({ vfs, certain, why: expect.stringMatching(why) });
  });
});

/** The recording with other names for what is in storage. */
async function laidOut(
  name: string,
  defined: readonly Definition[],
  rename: (d: Definition) => Definition | null,
): Promise<TraceStore> {
  const store = await golden(name);
  for (const { definitions } of store.threads) {
    for (const [id, d] of [...definitions]) {
      const next = rename(d);
      if (next) definitions.set(id, next);
      else definitions.delete(id);
    }
    defined.forEach((d, i) => definitions.set(900_000 + i, d));
  }
  return store;
}
const bare = (d: Definition): Definition | null =>
  d.kind === 'opfs-file' || d.kind === 'idb-store' ? null : d;
const opfs = (path: string): Definition => ({ kind: 'opfs-file', id: 0, path });
const store = (name: string): Definition => ({ kind: 'idb-store', id: 0, db: 'some', store: name });

describe('layouts', () => {
  it.each([
    ['OPFSWriteAhead', [opfs('/test-1.db'), opfs('/test-1.db-wa0')]],
    ['OPFSPermuted', [opfs('/test-1.db'), store('pages'), store('pending')]],
    ['IDBMirror', [store('blocks'), store('tx')]],
    ['BlockIDB', [store('blocks'), store('files')]],
    ['AccessHandlePool', [opfs('/pool/k3j9x0a1bcd'), opfs('/pool/zz00aa11bb2')]],
  ])('%s', async (vfs, defined) => {
    expect(of(await laidOut('opfs-coop-sync', defined, bare))).toMatchObject({
      vfs,
      certain: true,
    });
  });

  it('if two VFSs fit, none is named', async () => {
    const both = await laidOut(
      'opfs-coop-sync',
      [store('blocks'), store('tx'), store('metadata')],
      bare,
    );
    expect(of(both)).toEqual({
      vfs: null,
      certain: false,
      why: 'its storage has the layout of IDBMirror and IDBBatchAtomic',
      nearest: 'IDBMirror',
    });
  });

  it("under an unknown build, a layout isn't proof", async () => {
    const other = await laidOut('opfs-coop-sync', [], (d) => d);
    for (const thread of other.threads)
      for (const engine of thread.engines)
        Object.assign(engine, { name: 'SQLite (unknown build)' });
    expect(of(other)).toMatchObject({ vfs: 'OPFSCoopSync', certain: false });
  });
});

describe('a guess', () => {
  it('by the name that the app gave it', async () => {
    const named = await laidOut('opfs-coop-sync', [], (d) =>
      d.kind === 'file' ? { ...d, vfs: 'my-OPFSAdaptiveVFS-2' } : bare(d),
    );
    expect(of(named)).toEqual({
      vfs: 'OPFSAdaptive',
      certain: false,
      why: 'the app calls its VFS “my-OPFSAdaptiveVFS-2”',
    });
  });
  it('by its storage calls', async () => {
    expect(of(await laidOut('opfs-coop-sync', [], bare))).toMatchObject({
      vfs: 'OPFSCoopSync',
      certain: false,
    });
    expect(of(await laidOut('idb-batch-atomic', [], bare))).toMatchObject({
      vfs: 'IDBBatchAtomic',
      certain: false,
    });
  });
});

it('as text, a guess says that it is one', () => {
  expect(recordedOn({ vfs: 'IDBMirror', certain: true, why: 'w' })).toBe(
    'It was made on IDBMirror (w); a replay there measures the error.',
  );
  expect(recordedOn({ vfs: 'IDBMirror', certain: false, why: 'w' })).toMatch(
    /^It was probably made on IDBMirror \(a guess: w\)/,
  );
  expect(recordedOn({ vfs: null, certain: true, why: 'w' })).toMatch(
    /^The Lab doesn't have its VFS \(w\)/,
  );
});
