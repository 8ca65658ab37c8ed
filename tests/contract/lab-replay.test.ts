/** A recording replayed on its own VFS: exactly the same calls and bytes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { replayScriptOf } from '../../src/lab/experiments/replay/calls.ts';
import { errorOf, errorWords } from '../../src/lab/experiments/replay/control.ts';
import { replay } from '../../src/lab/experiments/replay/replay.ts';
import { DEFAULT_CONFIG } from '../../src/lab/experiments/model/types.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { TraceStore } from '../../src/trace/store.ts';
import { webCountsOf } from '../traces/analyses.ts';

const golden = async (name: string): Promise<TraceStore> =>
  (
    await readTrace(
      readFileSync(join(import.meta.dirname, '..', 'traces', 'golden', `${name}.vfst`)),
    )
  ).store;
const { engines, environment } = nodeSurroundings();
const around = { engines, environment };

it('memory-delete on MemoryVFS: every count and byte of the recording, and a trace with the same', async () => {
  const { report, trace } = await replay(await golden('memory-delete'), DEFAULT_CONFIG, around);
  expect(report.replayed.vfs).toEqual(report.recorded.vfs);
  expect(report.recorded.vfs).toMatchObject({
    'main-db.xWriteBytes': 8_228_864,
    'journal.xWrite': 8002,
    'journal.xDelete': 1001,
  });
  expect([report.retries, report.differing, report.leftOut]).toEqual([0, {}, []]);
  const { store, warnings } = await readTrace(new Uint8Array(await trace.arrayBuffer()));
  expect(warnings).toEqual([]);
  expect(summaryOf(store).dropped).toBe(0);
  expect(summaryOf(store).files.reduce((n, f) => n + f.vfs.xWrite!, 0)).toBe(10_011);
});

describe('on another VFS', () => {
  it.each(['wal-exclusive', 'cache-thrash', 'idb-batch-atomic', 'cold-warm'])(
    '%s: reads find what the recording read',
    async (name) => {
      const { report } = await replay(
        await golden(name),
        { ...DEFAULT_CONFIG, vfs: 'MemoryAsyncVFS' },
        around,
      );
      expect(report.replayed.vfs).toEqual(report.recorded.vfs);
      // that one was recorded on OPFSCoopSync, which refused once and was called again
      expect(report.differing).toEqual(name === 'cache-thrash' ? { xOpen: 1, xLock: 1 } : {});
    },
  );
});

it('the page cache by the curve, null where the curve is unknown', async () => {
  const misses = async (name: string, cacheSize: number): Promise<(number | null)[]> =>
    (await replay(await golden(name), { ...DEFAULT_CONFIG, cacheSize }, around)).report.cache.map(
      (c) => c.misses,
    );
  // at most this many for cache-thrash, because the recording folded its cache_size
  expect([
    await misses('cache-thrash', 500),
    await misses('cache-thrash', -4000),
    await misses('cold-warm', 5),
    await misses('cold-warm', 500),
  ]).toEqual([[50], [50], [null], [50]]);
});

it("reports what can't be replayed", async () => {
  await expect(
    replay(await golden('kvvfs'), { ...DEFAULT_CONFIG, vfs: 'memory' }, around),
  ).rejects.toThrow(/makes no VFS call/);
  await expect(replay(await golden('turso-wal'), DEFAULT_CONFIG, around)).rejects.toThrow(
    /no VFS call/,
  );
  await expect(
    replay(await golden('memory-delete'), { ...DEFAULT_CONFIG, vfs: 'BlockIDB' }, around),
  ).rejects.toThrow(/isn't available here/);
});

describe('how far a replay can be trusted', () => {
  it("is measured on the recording's own VFS: no count differs, and it compares the times", async () => {
    const { report } = await replay(
      await golden('memory-delete'),
      { ...DEFAULT_CONFIG, vfs: 'MemoryAsyncVFS' },
      around,
    );
    expect(report.error).toMatchObject({ vfs: 'MemoryVFS', differing: 0 });
    expect(report.error!.counts).toBeGreaterThan(10);
    expect(report.error!.timeRatio).toBeGreaterThan(0);
    expect(errorWords(report.error, report.errorWhy)).toMatch(
      /replayed on MemoryVFS, which the recording was probably made on, a guess \(it made no storage call\), 0 of \d+ VFS counts differ; the time in calls is /,
    );
  });
  it("a recording whose VFS isn't available here has no error, and shows why", async () => {
    const { report } = await replay(await golden('opfs-coop-sync'), DEFAULT_CONFIG, around);
    expect(report.error).toBeNull();
    expect(report.errorWhy).toMatch(/OPFSCoopSync.*isn't available here/);
  });
  it('counts that differ are counted', () => {
    const web = webCountsOf(new TraceStore(0));
    const error = errorOf(
      { vfs: 'MemoryVFS', certain: false, why: 'w' },
      { vfs: { a: 1, b: 2 }, vfsUs: 10 },
      { vfs: { a: 1, b: 3, c: 1 }, vfsUs: 5 },
      web,
      {
        'opfs.reads': 4,
      },
    );
    expect(error).toEqual({
      ...{ vfs: 'MemoryVFS', certain: false, why: 'w', counts: 3, differing: 2, timeRatio: 0.5 },
      web: [{ name: 'opfs.reads', recorded: 0, replayed: 4 }],
    });
    expect(errorWords(error, '')).toContain('opfs.reads (0 recorded, 4 replayed)');
  });
});

describe('several threads', () => {
  it('with a common database: the busiest, and why', async () => {
    const script = replayScriptOf(await golden('idb-two-tabs'));
    expect(script.threads).toEqual([script.thread]);
    expect(script.leftOut.join()).toMatch(
      /several threads share .+, and who waited for whom cannot be replayed/,
    );
  });
  it('with separate databases: all of them, each in its order', async () => {
    const [one, other] = [await golden('memory-delete'), await golden('wal-exclusive')];
    for (const { definitions } of other.threads)
      for (const d of definitions.values())
        if (d.kind === 'file' && d.path)
          Object.assign(d, { path: d.path.replace(/^\/?/, '/other-') });
    const both = Object.create(one, {
      threads: { value: [...one.threads, ...other.threads] },
    }) as TraceStore;
    const [a, b, all] = [one, other, both].map((store) => replayScriptOf(store));
    expect(all!.calls.length).toBe(a!.calls.length + b!.calls.length);
    expect(all!.threads).toHaveLength(2);
    expect(new Set(all!.files.map(({ name }) => name)).size).toBe(
      a!.files.length + b!.files.length,
    );
    expect(all!.calls.filter((c) => c.file < a!.files.length)).toEqual(a!.calls);
    const { report } = await replay(both, DEFAULT_CONFIG, around);
    expect(report.calls).toBe(all!.calls.length);
    expect(report.differing).toEqual({});
  });
});
