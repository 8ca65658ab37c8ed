// The overlay on your own VFS: it counts the same as the trampolines, and doesn't change results,
// bytes, or when calls return.
import { readFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readTrace } from '../../src/trace/file/read.ts';
import { reportText } from '../../src/terminal/report-text.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { Flag, Op } from '../../src/event/event.ts';
import { opName } from '../../src/event/operations.ts';
import type { ThreadStore } from '../../src/trace/store.ts';
import { instrument } from '../../src/vfs-instrumented/library/overlay.ts';
import { startRecording, type Recording } from '../../src/vfs-instrumented/library/recording.ts';
import { runScript } from './helpers/script.ts';
import { storeOf } from './helpers/store.ts';
import { Traced } from './helpers/traced.ts';
import { loadWaSqlite, type Build, type WaSqlite } from './helpers/wa-sqlite.ts';
import { cacheReport, findingsOf, headlineNumbers, reportOf } from '../traces/analyses.ts';

const BUILDS = ['journey-sync', 'journey-async', 'wa1-sync', 'wa1-async'] as const;
let traced: Traced | null = null;
afterEach(() => {
  traced?.restore();
  traced = null;
});

/** An engine whose VFS is instrumented after its registration, as the helper registers it. */
async function instrumented(
  build: Build,
): Promise<WaSqlite & { recording: Recording; thread: ThreadStore }> {
  const recording = startRecording({ name: 'overlay' });
  const engine = await loadWaSqlite(build);
  instrument(engine.vfs, recording);
  return { ...engine, recording, thread: recording.store().threads[0]! };
}

const filesOf = ({ vfs }: WaSqlite): [string, Buffer][] =>
  [...(vfs.mapNameToFile as Map<string, { data: ArrayBuffer; size: number }>)].map(([name, f]) => [
    name,
    Buffer.from(f.data.slice(0, f.size)),
  ]);

/** `xRead main-db 0 100 type 13` -> how often: everything about a call except times and ids. */
function callsOf(thread: ThreadStore): Record<string, number> {
  const { events } = thread;
  const calls: Record<string, number> = {};
  for (let i = 0; i < events.count; i++) {
    const file = thread.definitions.get(events.object[i]!);
    if (events.op[i]! >= 64 || file?.kind !== 'file' || file.fileKind === 'memory-journal')
      continue;
    const detail = [
      events.offset[i],
      events.length[i],
      events.result[i],
      events.aux[i],
      events.aux2[i] ?? 0,
    ].join(' ');
    const key = `${opName(events.op[i]!)} ${file.fileKind} ${file.path.split('/').pop()} ${detail}`;
    calls[key] = (calls[key] ?? 0) + 1;
  }
  return calls;
}

describe.each(BUILDS)('%s', (build) => {
  it('records the same calls as the trampolines, argument by argument, and changes no result and no byte', async () => {
    traced = new Traced();
    const hooked = await loadWaSqlite(build);
    const expected = await runScript(hooked.sqlite3);
    const theirs = callsOf(storeOf(traced).threads[0]!);
    traced.restore();

    const own = await instrumented(build);
    expect(await runScript(own.sqlite3)).toEqual(expected);
    expect(filesOf(own)).toEqual(filesOf(hooked));
    const store = own.recording.store();
    const ours = callsOf(store.threads[0]!);
    expect(Object.keys(ours).length).toBeGreaterThan(50);
    expect(ours).toEqual(theirs);
    expect([store.dropped, store.threads[0]!.faults]).toEqual([0, 0]);
    const { events } = own.thread;
    for (let i = 0; i < events.count; i++)
      expect([opName(events.op[i]!), events.endSeq[i]! > events.seq[i]!]).toEqual([
        opName(events.op[i]!),
        true,
      ]);
  });

  it('a call that suspends is asynchronous in the trace, and no other', async () => {
    const { sqlite3, thread, recording } = await instrumented(build);
    await runScript(sqlite3);
    recording.store();
    const { events } = thread;
    const flags = new Set<number>();
    for (let i = 0; i < events.count; i++)
      if (events.op[i] === Op.xRead) flags.add(events.flags[i]! & Flag.async);
    expect([...flags]).toEqual([build.endsWith('async') ? Flag.async : 0]);
    expect(recording.recorder.current).toBe(0);
  });
});

it('a method returns as before: a number at once, or a promise', async () => {
  for (const build of ['journey-sync', 'journey-async'] as const) {
    const { sqlite3, vfs } = await instrumented(build);
    const seen = new Set<string>();
    const laid = vfs.xFileSize as (...a: unknown[]) => unknown;
    vfs.xFileSize = (...a: unknown[]): unknown => {
      const answer = laid(...a);
      seen.add(answer instanceof Promise ? 'promise' : typeof answer);
      return answer;
    };
    await runScript(sqlite3);
    expect([...seen]).toEqual([build === 'journey-async' ? 'promise' : 'number']);
    expect(Object.keys(vfs)).not.toContain('xRead');
  }
});

it('an error of the VFS reaches SQLite unchanged, and is in the trace', async () => {
  const { sqlite3, vfs, recording, thread } = await instrumented('journey-sync');
  const db = await sqlite3.open_v2('e.db');
  await sqlite3.exec(db, 'CREATE TABLE t(a)');
  vfs.jWrite = () => 13; // SQLITE_FULL
  await expect(sqlite3.exec(db, 'INSERT INTO t VALUES(1)')).rejects.toThrow(/full/);
  recording.store();
  const { events } = thread;
  const results = new Set<number>();
  for (let i = 0; i < events.count; i++)
    if (events.op[i] === Op.xWrite) results.add(events.result[i]!);
  expect(results).toContain(13);
});

it('a paused recording records nothing, and knows its files when it continues', async () => {
  const { sqlite3, recording } = await instrumented('wa1-async');
  recording.pause();
  const db = await sqlite3.open_v2('p.db');
  await sqlite3.exec(db, 'CREATE TABLE t(a)');
  const before = recording.events;
  recording.resume();
  await sqlite3.exec(db, 'INSERT INTO t VALUES(1)');
  expect(recording.events).toBeGreaterThan(before);
  const files = summaryOf(recording.store()).files;
  expect(files.find((f) => f.path.endsWith('p.db'))?.vfs.xWrite).toBe(2);
});

it('the panel and the command line read the saved file, with the same numbers', async () => {
  const { sqlite3, recording } = await instrumented('journey-sync');
  await runScript(sqlite3);
  const folder = mkdtempSync(join(tmpdir(), 'vfscope-overlay-'));
  try {
    const path = join(folder, 'app.vfst');
    writeFileSync(path, Buffer.from(await (await recording.save()).arrayBuffer()));
    const { store } = await readTrace(new Blob([readFileSync(path)]));
    const read = summaryOf(store);
    expect(read).toEqual(summaryOf(recording.store()));
    expect(read.engines).toEqual([
      expect.objectContaining({ name: 'wa-sqlite', sqliteVersion: '3.53.0' }),
    ]);
    expect(read.files.find((f) => f.kind === 'main-db')?.vfs.xWrite).toBeGreaterThan(20);
    expect(read.commits).toBe(24);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('reports which layers it has, and concludes nothing from missing ones', async () => {
  const { sqlite3, recording } = await instrumented('journey-sync');
  const db = await sqlite3.open_v2('layers.db');
  await sqlite3.exec(db, 'CREATE TABLE t(a)');
  for (let i = 0; i < 30; i++) await sqlite3.exec(db, `INSERT INTO t VALUES(${i})`);
  await sqlite3.exec(db, 'PRAGMA cache_size=0; SELECT count(*) FROM t; SELECT count(*) FROM t');
  const store = recording.store();
  const summary = summaryOf(store);
  expect(summary.environment.capture).toMatchObject({ capture: 0, layers: ['vfs'] });
  expect(summary.threads.map(({ layers }) => layers)).toEqual([['vfs']]);
  expect(summary.engines.map(({ layers }) => layers)).toEqual([
    { web: false, vfs: true, sql: false, counters: false },
  ]);
  expect(summary.unknown.statements).toBe(
    'no SQL call was recorded: the recording leaves that layer out',
  );
  expect(summary.unknown.web).toBe(
    'no storage call was recorded: the recording leaves that layer out',
  );
  const said = reportText(reportOf(store));
  expect(said).toMatch(/Storage calls\n +n\/a +no storage call was recorded/);
  expect(said).not.toMatch(/IndexedDB +0 transactions/);
  expect(cacheReport(store).blockCaches.map(({ hitRate, cause }) => [hitRate, cause])).toEqual([
    [null, 'the recording leaves storage calls out'],
  ]);
  const causes = Object.fromEntries(
    headlineNumbers(store).map(({ id, value, cause }) => [id, value === null ? cause : value]),
  );
  expect(causes).toMatchObject({
    ioShare: 'the recording leaves storage calls out',
    idbTransactions: 'the recording leaves storage calls out',
    hitRate: 'the recording leaves statements out, and the counters that are read after them',
  });
  // no storage call was seen, but none was recorded either, so this isn't a database in memory
  expect(findingsOf(store).map(({ rule }) => rule)).toContain('F01');
  const other = startRecording({ layers: ['vfs', 'web'] }).store();
  expect(summaryOf(other).threads.map(({ layers }) => layers)).toEqual([['web']]);
});

it('overlapping calls: a new call belongs to the one that began last, in whatever order they end', async () => {
  const pending: ((rc: number) => void)[] = [];
  const vfs = {
    name: 'fake',
    _module: { HEAPU8: new Uint8Array(4096), UTF8ToString: () => 'o.db' },
    hasAsyncMethod: () => true,
    xOpen: () => 0,
    xWrite: () => 0,
    xRead: () => new Promise<number>((resolve) => pending.push(resolve)),
    xSync: () => {
      throw new Error('no');
    },
  };
  const recording = startRecording();
  const { recorder } = recording;
  type Any = (...args: number[]) => unknown;
  const { xOpen, xRead, xWrite, xSync } = instrument(
    vfs as unknown as Record<string, Any>,
    recording,
  ) as Record<string, Any>;
  const seen: number[] = [];
  const look = (): number => seen.push(recorder.current);
  xOpen!(0, 0, 8, 0x106, 0);
  look(); // no call is open
  const [one, two] = [xRead!(8, 0, 512, 0, 0), xRead!(8, 0, 512, 512, 0)] as Promise<number>[];
  look(); // the second
  xWrite!(8, 0, 512, 0, 0);
  look(); // the second again
  expect(() => xSync!(8, 0)).toThrow('no');
  look();
  pending[1]!(0);
  await two;
  look(); // the first
  pending[0]!(0);
  await one;
  look();
  const { events } = recording.store().threads[0]!;
  const rows = Array.from({ length: events.count }, (_, i) => i).filter((i) => events.op[i]! < 64);
  const reads = rows.filter((i) => events.op[i] === Op.xRead).map((i) => events.seq[i]!);
  expect(seen).toEqual([0, reads[1], reads[1], reads[1], reads[0], 0]);
  expect(
    rows.map((i) => [
      opName(events.op[i]!),
      events.parent[i],
      events.flags[i]! & (Flag.async | Flag.threw),
    ]),
  ).toEqual([
    ['xOpen', 0, 0],
    ['xRead', 0, Flag.async],
    ['xRead', 0, Flag.async],
    ['xWrite', 0, 0],
    ['xSync', 0, Flag.threw],
  ]);
});

it("rejects anything that isn't a VFS, and a second instrumentation", async () => {
  const { vfs, recording } = await instrumented('journey-sync');
  expect(() => instrument(vfs, recording)).toThrow(/already/);
  expect(() => instrument({}, recording)).toThrow(/xOpen/);
});
