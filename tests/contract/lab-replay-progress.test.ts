/**
 * A replay's progress, what it reports about a recording before it runs, and the recording's own
 * storage calls.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { memoryVfs } from '../../src/lab/experiments/engine/open-host.ts';
import { countsOf, replayScriptOf, vfsCallsOf } from '../../src/lab/experiments/replay/calls.ts';
import { recordingFactsOf } from '../../src/lab/experiments/replay/facts.ts';
import {
  replay,
  type Replayed,
  type ReplayProgress,
} from '../../src/lab/experiments/replay/replay.ts';
import { notesOf } from '../../src/lab/results/replay.ts';
import { DEFAULT_CONFIG } from '../../src/lab/experiments/model/types.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';

const { engines, environment } = nodeSurroundings();

const golden = async (name: string): Promise<TraceStore> =>
  (
    await readTrace(
      readFileSync(join(import.meta.dirname, '..', 'traces', 'golden', `${name}.vfst`)),
    )
  ).store;

it('every call is counted, first those of the replay, then those that measure the error, and never backwards or too many', async () => {
  const said: ReplayProgress[] = [];
  const { report } = await replay(
    await golden('memory-delete'),
    { ...DEFAULT_CONFIG, vfs: 'MemoryAsyncVFS' },
    { engines, environment, onProgress: (progress) => void said.push(progress) },
  );
  const calls = said.filter(({ stage }) => stage !== 'fill');
  expect([...new Set(calls.map(({ stage }) => stage))]).toEqual(['replay', 'error']);
  for (const stage of ['replay', 'error']) {
    const own = calls.filter((p) => p.stage === stage);
    expect(own.length).toBeGreaterThan(20);
    expect(
      own.every(
        ({ done, all }, i) =>
          all === report.calls && done < all && (i === 0 ? done === 0 : done > own[i - 1]!.done),
      ),
    ).toBe(true);
    // less than a step is never reported
    expect(report.calls - own.at(-1)!.done).toBeLessThanOrEqual(1000);
  }
});

it.each(['memory-delete', 'wal-exclusive', 'cache-thrash', 'idb-batch-atomic', 'cold-warm'])(
  '%s: its calls are counted as the recording counts them',
  async (name) => {
    const store = await golden(name);
    const script = replayScriptOf(store);
    const { report } = await replay(store, DEFAULT_CONFIG, {
      engines,
      environment,
    });
    expect(countsOf(script, script.calls.length)).toEqual(report.recorded.vfs);
  },
);

it('an interrupted replay has the completed calls, next to the same calls of the recording', async () => {
  const interruptedAt = async (at: number): ReturnType<typeof replay> => {
    let asked = 0;
    return replay(await golden('memory-delete'), DEFAULT_CONFIG, {
      engines,
      environment,
      interrupted: () => Promise.resolve(++asked > at),
    });
  };
  const { report, trace } = await interruptedAt(10);
  expect(report.calls).toBeGreaterThan(0);
  expect(report.calls).toBeLessThan(report.callsInAll);
  expect(report.replayed.vfs).toEqual(report.recorded.vfs);
  expect([report.error, report.errorWhy]).toEqual([null, 'the replay was interrupted.']);
  expect(notesOf(report)[0]).toMatch(/^Interrupted after [\d,]+ of [\d,]+ calls\./);
  const { warnings } = await readTrace(new Uint8Array(await trace.arrayBuffer()));
  expect(warnings).toEqual([]);
});

it('completed calls are reported now and then, each time as a complete report', async () => {
  const all: Replayed[] = [];
  const store = await golden('memory-delete');
  const { report } = await replay(
    store,
    { ...DEFAULT_CONFIG, vfs: 'MemoryAsyncVFS' },
    {
      engines,
      environment,
      soFar: { everyMs: 0, take: (replayed) => void all.push(replayed) },
    },
  );
  const calls = all.map((soFar) => soFar.report.calls);
  expect(calls.length).toBeGreaterThanOrEqual(2); // the first, and the complete one
  expect(calls).toEqual([...new Set(calls)].sort((a, b) => a - b));
  for (const { report: soFar } of all) expect(soFar.replayed.vfs).toEqual(soFar.recorded.vfs);
  expect(all[0]!.report.errorWhy).toBe('the replay was interrupted.');
  // the last one is complete, before its error is measured on the other VFS
  expect(all.at(-1)!.report).toMatchObject({
    replayed: { vfs: report.replayed.vfs },
    calls: report.callsInAll,
    error: null,
  });
  const { store: kept, warnings } = await readTrace(
    new Uint8Array(await all[0]!.trace.arrayBuffer()),
  );
  expect(warnings).toEqual([]);
  expect(vfsCallsOf(kept.threads[0]!)).toBe(calls[0]);
});

it("filling the files before a replay isn't counted in its VFS's counters", async () => {
  let puts = 0;
  const { report } = await replay(await golden('absurd-sql'), DEFAULT_CONFIG, {
    engines,
    environment,
    makeVfs: async (config, module) => {
      const made = (await memoryVfs(config, module))!;
      const write = made.vfs.xWrite as (...args: unknown[]) => unknown;
      made.vfs.xWrite = (...args: unknown[]) => {
        puts++;
        return write.apply(made.vfs, args);
      };
      return { ...made, counters: () => ({ 'block.put': puts }) };
    },
  });
  expect(report.recorded.vfs['main-db.xWrite']).toBe(82);
  expect(report.replayed.web).toEqual({ 'block.put': 82 });
});

it('interrupted while its error is measured, a replay is complete', async () => {
  let stage = '';
  const { report } = await replay(
    await golden('memory-delete'),
    { ...DEFAULT_CONFIG, vfs: 'MemoryAsyncVFS' },
    {
      engines,
      environment,
      onProgress: (progress) => (stage = progress.stage),
      interrupted: () => Promise.resolve(stage === 'error'),
    },
  );
  expect(report.calls).toBe(report.callsInAll);
  expect(report.error).toBeNull();
  expect(report.errorWhy).toMatch(/could not be replayed on: it was interrupted/);
});

it('a recording shows what a replay will do with it', async () => {
  const facts = recordingFactsOf(await golden('opfs-coop-sync'));
  expect(facts).toMatchObject({
    threads: 1,
    recordedVfs: { vfs: 'OPFSCoopSync', certain: true },
    leftOut: [],
  });
  expect(facts.calls).toBe(facts.callsInAll);
  expect(facts.databases).toHaveLength(1);
  const shared = recordingFactsOf(await golden('idb-two-tabs'));
  expect(shared.calls).toBeLessThan(shared.callsInAll);
  expect(shared.leftOut.join()).toMatch(/several threads share/);
  const nothing = await golden('turso-wal');
  expect(() => recordingFactsOf(nothing)).toThrow(/no VFS call.*Record the page from its start/);
});

it("the report has the recording's storage calls", async () => {
  const { report } = await replay(await golden('opfs-coop-sync'), DEFAULT_CONFIG, {
    engines,
    environment,
  });
  expect(report.recorded.web).toMatchObject({ 'opfs.writes': 1004 });
  expect(Object.keys(report.recorded.web!).filter((name) => /Bytes$/.test(name))).toEqual([]);
});
