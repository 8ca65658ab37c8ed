// Write-ahead logs and checkpoints: built by hand, and compared with a real engine.
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { modeOfText } from '../../src/analysis/wal/checkpoint-trigger.ts';
import { HOT_US, type Checkpoint } from '../../src/analysis/wal/checkpoints.ts';
import { isStarved } from '../../src/analysis/wal/wal.ts';
import { AUX_WAL_HEADER, Op } from '../../src/event/event.ts';
import { storeOf } from '../contract/helpers/store.ts';
import { Traced } from '../contract/helpers/traced.ts';
import { CREATE_T, insertT, loadWaSqlite, type Sqlite } from '../contract/helpers/wa-sqlite.ts';
import { inLogText, pagesLeftText } from '../../src/viewer/ui/views/wal/checkpoint-columns.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { expectCheap, MANY } from './cpu-limit.ts';
import { syntheticStore } from '../traces/synthetic.ts';
import { checkpointsOf, walFilesOf, walHistories } from '../traces/analyses.ts';

let traced: Traced | null = null;
afterEach(() => {
  traced?.restore();
  traced = null;
});

const PAGE = 4096;
const FRAME = PAGE + 24;
const WAL = 'PRAGMA locking_mode=exclusive;PRAGMA journal_mode=wal;';
const ns = (us: number): number => Math.round(us * 1000);
/** Invariants of every checkpoint. */
function check(c: Checkpoint): void {
  const { readUs, writeUs, syncUs, otherUs } = c.time;
  expect(ns(readUs) + ns(writeUs) + ns(syncUs) + ns(otherUs)).toBe(ns(c.toUs - c.fromUs));
  expect(c.pages).toBeLessThanOrEqual(c.dbWrites);
  expect(c.runs).toBeLessThanOrEqual(c.dbWrites);
  if (c.framesInLog !== null) expect(c.framesInLog).toBe(c.pagesInLog! + c.supersededFrames!);
}

async function start(
  pragmas: string,
): Promise<{ t: Traced; sqlite3: Sqlite; db: number; log: () => number }> {
  const t = (traced = new Traced());
  const { sqlite3, vfs } = await loadWaSqlite('journey-sync');
  const db = await sqlite3.open_v2('app.db');
  await sqlite3.exec(db, `${WAL}${pragmas}`);
  const files = vfs.mapNameToFile as Map<string, { size: number }>;
  return {
    t,
    sqlite3,
    db,
    log: () => [...files].find(([path]) => path.endsWith('-wal'))?.[1].size ?? 0,
  };
}

describe('golden: a real engine', () => {
  test('autocheckpoint 100 against 10000: how often, how large, how many pages', async () => {
    const found: Record<number, Checkpoint[]> = {};
    for (const limit of [100, 10_000]) {
      const { t, sqlite3, db, log } = await start(`PRAGMA wal_autocheckpoint=${limit};${CREATE_T}`);
      for (let i = 0; i < 1000; i++) await sqlite3.exec(db, insertT(i));
      const store = storeOf(t);
      const [wal] = walHistories(store);
      found[limit] = checkpointsOf(store);
      found[limit].forEach(check);
      expect(wal).toMatchObject({
        path: 'app.db',
        layer: 'vfs',
        pageSize: PAGE,
        commits: 1001,
        truncations: 0,
      });
      expect(wal!.restarts).toBe(limit === 100 ? found[limit].length : 0);
      expect(wal!.series.fileBytes.at(-1)).toBe(log());
      expect(wal!.highWaterBytes).toBe(log());
      expect(wal!.highWaterFrames).toBe((log() - 32) / FRAME);
      // and without recorded xFileControl calls, from the order of reads and writes alone
      const inferred = checkpointsOf(storeOf(t, t.all(), [Op.xFileControl]));
      inferred.forEach(check);
      const shape = (c: Checkpoint): unknown[] => [
        c.trigger,
        c.pages,
        c.dbWrites,
        c.walReads,
        c.runs,
        c.dbSyncs,
        c.framesInLog,
        c.pagesLeft,
      ];
      expect(inferred.map(shape)).toEqual(found[limit].map(shape));
      t.restore();
    }
    expect(found[10_000]).toEqual([]);
    expect(found[100]!.length).toBeGreaterThanOrEqual(9);
    for (const c of found[100]!) {
      expect(c).toMatchObject({
        trigger: 'autocheckpoint',
        mode: 'PASSIVE',
        bracketed: true,
        ascending: true,
        truncatedWal: false,
      });
      expect(c.statement).toMatch(/^INSERT INTO t/);
      expect(c.walReads).toBe(c.dbWrites); // SQLite reads and writes each page once
      expect(c).toMatchObject({
        pages: c.pagesInLog,
        pagesLeft: 0,
        walSyncs: 1,
        dbSyncs: 1,
        busy: 0,
      });
      expect(c.framesInLog).toBeGreaterThanOrEqual(100);
      // the hot share depends on the machine
      expect(c.hotReads! > 0).toBe(c.youngestReadUs! < HOT_US);
    }
  });

  test('PASSIVE over all pages is one run; TRUNCATE of a few hot pages is many', async () => {
    const { t, sqlite3, db, log } = await start(
      'PRAGMA wal_autocheckpoint=0;PRAGMA cache_size=50;',
    );
    await sqlite3.exec(db, 'CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)');
    await sqlite3.exec(
      db,
      "WITH RECURSIVE c(x) AS(VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<20000) INSERT INTO t SELECT x, x, printf('%0100d',x) FROM c",
    );
    const update = async (): Promise<void> => {
      for (let i = 0; i < 40; i++)
        await sqlite3.exec(db, `UPDATE t SET a=a+1 WHERE id=${((i * 7919) % 20000) + 1}`);
    };
    await update();
    await sqlite3.exec(db, 'PRAGMA wal_checkpoint');
    await update();
    const before = log();
    await sqlite3.exec(db, 'PRAGMA wal_checkpoint(TRUNCATE)');
    expect(log()).toBe(0);
    const store = storeOf(t);
    const [all, few, ...rest] = checkpointsOf(store);
    expect(rest).toEqual([]);
    [all!, few!].forEach(check);
    expect(all).toMatchObject({
      trigger: 'pragma',
      mode: 'PASSIVE',
      runs: 1,
      ascending: true,
      truncatedWal: false,
      pagesLeft: 0,
    });
    expect(all!.longestRun).toBe(all!.pages);
    expect(all!.supersededFrames).toBeGreaterThan(0);
    expect(few).toMatchObject({
      trigger: 'pragma',
      mode: 'TRUNCATE',
      truncatedWal: true,
      ascending: true,
      pagesLeft: 0,
    });
    expect(few!.walReads).toBe(few!.pages);
    expect(few!.runs).toBeGreaterThan(few!.pages * 0.8);
    const [wal] = walHistories(store);
    expect(wal).toMatchObject({ truncations: 1, restarts: 1 });
    expect(wal!.highWaterBytes).toBe(before); // a restart keeps the file's length
    expect([wal!.series.usedBytes.at(-1), wal!.series.fileBytes.at(-1)]).toEqual([0, 0]);
  });

  test('the last connection closes, and the database leaves WAL mode', async () => {
    const { t, sqlite3, db } = await start(`PRAGMA wal_autocheckpoint=0;${CREATE_T}`);
    await sqlite3.exec(db, insertT(1));
    await sqlite3.exec(db, 'PRAGMA journal_mode=delete');
    await sqlite3.exec(db, `PRAGMA journal_mode=wal;${insertT(2)}`);
    await sqlite3.close(db);
    const found = checkpointsOf(storeOf(t));
    found.forEach(check);
    expect(found.map((c) => c.trigger)).toEqual(['journal mode', 'close']);
    expect(found[1]).toMatchObject({ truncatedWal: true, mode: 'PASSIVE', pagesLeft: 0 });
    const vfsOnly = checkpointsOf(
      storeOf(
        t,
        t.all().filter((r) => r.op < Op.sqlOpen),
      ),
    );
    expect(vfsOnly.at(-1)).toMatchObject({ trigger: 'close' });
  });

  test("synchronous=full: frames that fill a sector aren't commits", async () => {
    const { t, sqlite3, db } = await start(`PRAGMA synchronous=full;${CREATE_T}`);
    const mark = t.mark();
    for (let i = 0; i < 50; i++) await sqlite3.exec(db, insertT(i));
    const [wal] = walHistories(storeOf(t, t.since(mark)));
    expect(wal!.commits).toBe(50);
    expect(wal!.frames).toBeGreaterThan(50);
    expect(wal!.syncs).toBeGreaterThanOrEqual(50);
  });

  test('without a log there is no history', async () => {
    const t = (traced = new Traced());
    const { sqlite3 } = await loadWaSqlite('journey-sync');
    const db = await sqlite3.open_v2('app.db');
    await sqlite3.exec(db, CREATE_T + insertT(1));
    expect(walHistories(storeOf(t))).toEqual([]);
    expect(checkpointsOf(storeOf(t))).toEqual([]);
  });
});

test("the page size is the database's, whatever reads the log first", () => {
  const t = new ThreadBuilder(newStore());
  const [db, log] = [t.file('/app.db'), t.file('/app.db-wal', 'wal')];
  t.call('xRead', { object: log, offset: 0, length: 1024 });
  for (let page = 0; page < 3; page++)
    t.call('xRead', { object: db, offset: page * PAGE, length: PAGE });
  t.call('xWrite', { object: log, offset: 32, length: 24, aux: 7, aux2: 9 });
  t.call('xWrite', { object: log, offset: 56, length: PAGE });
  t.send();
  expect(walHistories(t.store)).toMatchObject([{ pageSize: PAGE, frames: 1 }]);
});

/**
 * Turso: frames in one OPFS write each, no VFS calls; a checkpoint copies the `copy` pages to the
 * database.
 */
function turso(pages: readonly number[], copy: readonly number[]): ReturnType<typeof newStore> {
  const store = newStore();
  const t = new ThreadBuilder(store);
  const db = t.define({ kind: 'opfs-file', path: '/turso.db' });
  const wal = t.define({ kind: 'opfs-file', path: '/turso.db-wal' });
  t.call('opfsWrite', {
    object: wal,
    offset: 0,
    length: 32,
    result: 32,
    aux: AUX_WAL_HEADER,
    aux2: 1,
  });
  pages.forEach((page, i) =>
    t.call('opfsWrite', {
      object: wal,
      offset: 32 + i * FRAME,
      length: FRAME,
      result: FRAME,
      aux: page,
      aux2: i === pages.length - 1 ? 9 : 0,
    }),
  );
  t.call('opfsFlush', { object: wal });
  for (const page of copy)
    t.call('opfsWrite', {
      object: db,
      offset: (page - 1) * PAGE,
      length: PAGE,
      result: PAGE,
      dur: 2,
    });
  t.call('opfsFlush', { object: db, dur: 10 });
  t.call('opfsTruncate', { object: wal, offset: 0, dur: 3 });
  t.call('opfsFlush', { object: wal });
  t.send();
  return store;
}

test('OPFS alone (Turso): the checkpoint is detected, with pages left in the log', () => {
  const store = turso([5, 6, 5, 9, 7], [5, 6, 7]);
  const [c, ...rest] = checkpointsOf(store);
  expect(rest).toEqual([]);
  check(c!);
  expect(c).toMatchObject({
    path: '/turso.db',
    trigger: 'unknown',
    mode: null,
    bracketed: false,
    framesInLog: 5,
    pagesInLog: 4,
    supersededFrames: 1,
  });
  expect(c).toMatchObject({
    pages: 3,
    dbWrites: 3,
    walReads: 0,
    runs: 1,
    longestRun: 3,
    dbSyncs: 1,
    truncatedWal: true,
  });
  expect(walHistories(store)[0]).toMatchObject({
    layer: 'web',
    frames: 5,
    commits: 1,
    truncations: 1,
    restarts: 0,
    pageSize: PAGE,
    syncs: 2,
  });
});

test("where checkpoints aren't announced, a reader's earlier reads of the log aren't theirs", () => {
  /**
   * @param reads of the log, before the copying one
   * @param elsewhere whether another statement made them
   */
  const reading = (reads: number, elsewhere: boolean): Checkpoint[] => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    const db = t.file('/app.db');
    const wal = t.file('/app.db-wal', 'wal');
    const read = (): number => t.call('xRead', { object: wal, offset: 56, length: PAGE });
    t.call('xWrite', { object: wal, offset: 0, length: 32, aux: AUX_WAL_HEADER, aux2: 1 });
    t.call('xWrite', { object: wal, offset: 32, length: 24, aux: 5, aux2: 9 });
    t.call('xWrite', { object: wal, offset: 56, length: PAGE });
    const before = (): void => {
      for (let i = 0; i < reads; i++) read();
    };
    if (elsewhere) t.call('sqlStep', {}, before);
    t.call('sqlStep', {}, () => {
      if (!elsewhere) before();
      read();
      t.call('xWrite', { object: db, offset: 4 * PAGE, length: PAGE });
      t.call('xSync', { object: db });
    });
    t.send();
    return checkpointsOf(store);
  };
  expect(reading(10_000, true)).toMatchObject([{ bracketed: false, walReads: 1, dbWrites: 1 }]);
  expect(reading(3, false)).toMatchObject([{ walReads: 4, dbWrites: 1 }]);
  // within one call they can't be distinguished
  expect(reading(10_000, false)).toMatchObject([{ walReads: 64, dbWrites: 1 }]);
});

/**
 * A log with frames of these pages, the first of them at `first`. Then all its pages are copied.
 */
function copiedLog(first: number, pages: readonly number[], cut = false): Checkpoint {
  const store = newStore();
  const t = new ThreadBuilder(store);
  const wal = t.file('/app.db-wal', 'wal');
  const db = t.file('/app.db');
  if (first === 1) t.call('xWrite', { object: wal, offset: 0, length: 32, aux: AUX_WAL_HEADER });
  pages.forEach((page, i) => {
    const offset = 32 + (first - 1 + i) * FRAME;
    t.call('xWrite', { object: wal, offset, length: 24, aux: page, aux2: 9 });
    t.call('xWrite', { object: wal, offset: offset + 24, length: PAGE });
  });
  t.call('xFileControl', { object: db, aux: 39, result: 12 });
  for (const page of new Set(pages))
    t.call('xWrite', { object: db, offset: (page - 1) * PAGE, length: PAGE });
  t.call('xFileControl', { object: db, aux: 37, result: 12 });
  if (cut) t.call('xTruncate', { object: wal, offset: 0 });
  t.send();
  return checkpointsOf(store)[0]!;
}
test('locks refused in a checkpoint, and after it in its SQL call', () => {
  const store = newStore();
  const t = new ThreadBuilder(store);
  const [wal, db] = [t.file('/app.db-wal', 'wal'), t.file('/app.db')];
  const refused = (): unknown => t.call('xShmLock', { object: db, result: 5 });
  const exec = (inside: () => void): unknown => t.call('sqlExec', { context: 1 }, inside);
  exec(() => {
    t.call('xWrite', { object: wal, offset: 32, length: 24, aux: 1, aux2: 1 });
    t.call('xWrite', { object: wal, offset: 56, length: PAGE });
    refused();
    t.call('xFileControl', { object: db, aux: 39, result: 12 });
    refused();
    t.call('xWrite', { object: db, offset: 0, length: PAGE });
    t.call('xFileControl', { object: db, aux: 37, result: 12 });
    refused();
  });
  exec(refused);
  t.send();
  expect(checkpointsOf(store)).toMatchObject([{ dbWrites: 1, busy: 2 }]);
});

test('which pages a log holds is unknown while it has frames from before the trace', () => {
  expect(copiedLog(1, [4, 5, 4])).toMatchObject({
    framesInLog: 3,
    pagesInLog: 2,
    supersededFrames: 1,
    pagesLeft: 0,
  });
  expect(copiedLog(501, [4])).toMatchObject({
    framesInLog: 501,
    pagesInLog: null,
    supersededFrames: null,
    pagesLeft: null,
  });
  const cut = copiedLog(501, [4], true);
  expect(cut).toMatchObject({ pagesInLog: null, truncatedWal: true, pagesLeft: 0 });
  // the view's text
  const before = 'the log holds frames from before the recording';
  expect(inLogText(cut)).toBe(`501 frames of n/a pages, n/a superseded (${before})`);
  expect([pagesLeftText(cut), pagesLeftText(copiedLog(501, [4]))]).toEqual([
    '0 pages',
    `n/a pages (${before})`,
  ]);
  expect(inLogText(copiedLog(1, [4, 5, 4]))).toBe('3 frames of 2 pages, 1 superseded');
});

test('a log that only grows is reported as starved', () => {
  const [wal] = walHistories(
    turso(
      Array.from({ length: 4001 }, (_, i) => 1 + (i % 50)),
      [],
    ),
  );
  expect(isStarved(wal!)).toBe(true);
  expect(isStarved(wal!, 10_000)).toBe(false);
});

test('calls of all threads are in order of time, each exactly once, whatever overlaps', () => {
  const step = fc.record({
    thread: fc.nat(3),
    idle: fc.nat(2),
    log: fc.boolean(),
    dur: fc.nat(4),
    lost: fc.integer({ min: 0, max: 9 }),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
      const store = newStore();
      const threads = [0, 1, 2, 3].map(() => {
        const t = new ThreadBuilder(store);
        return { t, files: [t.file('/a.db'), t.file('/a.db-wal', 'wal'), t.file('/b.db')] };
      });
      let [calls, onLog] = [0, 0];
      for (const { thread, idle, log, dur, lost } of steps) {
        const { t, files } = threads[thread]!;
        t.idle(idle);
        t.call('xWrite', { object: files[2]!, offset: 0, length: PAGE }); // another database
        t.call('xWrite', {
          object: files[log ? 1 : 0]!,
          offset: 56,
          length: PAGE,
          dur,
          open: lost === 0,
          result: lost === 1 ? 10 : 0,
        });
        if (lost <= 1) continue;
        calls++;
        if (log) onLog++;
      }
      threads.forEach(({ t }) => t.send());
      const files = walFilesOf(store);
      expect(files.map(({ path }) => path)).toEqual(onLog ? ['/a.db'] : []);
      for (const { thread, row, onWal } of files) {
        const places = Array.from(row, (r, i) => ({
          us: store.threads[thread[i]!]!.events.t0[r]!,
          thread: thread[i]!,
          row: r,
        }));
        const sorted = [...places].sort(
          (a, b) => a.us - b.us || a.thread - b.thread || a.row - b.row,
        );
        expect(places.map(({ us }) => us)).toEqual(sorted.map(({ us }) => us));
        for (let t = 0; t < 4; t++) {
          const own = places.filter((p) => p.thread === t).map((p) => p.row);
          expect(own).toEqual([...new Set(own)].sort((a, b) => a - b));
        }
        expect([places.length, onWal.reduce((a, b) => a + b, 0)]).toEqual([calls, onLog]);
      }
    }),
    { numRuns: 300 },
  );
});

test('for any order of pages, runs, distinct pages, and remaining pages match a plain count', () => {
  const pages = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(pages, pages, (frames, copy) => {
      const store = newStore();
      const t = new ThreadBuilder(store);
      const [db, wal] = [t.file('/a.db'), t.file('/a.db-wal', 'wal')];
      t.call('xWrite', { object: wal, offset: 0, length: 32, aux: AUX_WAL_HEADER, aux2: 1 });
      frames.forEach((page, i) => {
        t.call('xWrite', { object: wal, offset: 32 + i * FRAME, length: 24, aux: page, aux2: 3 });
        t.call('xWrite', { object: wal, offset: 56 + i * FRAME, length: PAGE });
        t.call('xFileControl', { object: db, aux: 22, result: 12 });
      });
      t.call('xFileControl', { object: db, aux: 39, result: 12 });
      for (const page of copy) {
        t.call('xRead', { object: wal, offset: 56, length: PAGE });
        t.call('xWrite', { object: db, offset: (page - 1) * PAGE, length: PAGE, dur: 1.5 });
      }
      t.call('xFileControl', { object: db, aux: 37, result: 12 });
      t.call('xSync', { object: db, dur: 7 });
      t.send();
      const [c, ...rest] = checkpointsOf(store);
      expect(rest).toEqual([]);
      check(c!);
      let runs = 0;
      copy.forEach((page, i) => (runs += i === 0 || page !== copy[i - 1]! + 1 ? 1 : 0));
      const newest = new Set(frames);
      expect(c).toMatchObject({
        runs,
        pages: new Set(copy).size,
        walReads: copy.length,
        dbSyncs: 1,
        framesInLog: frames.length,
        pagesInLog: newest.size,
      });
      expect(c!.pagesLeft).toBe([...newest].filter((p) => !copy.includes(p)).length);
      expect(walHistories(store)[0]!.commits).toBe(frames.length);
    }),
    { numRuns: 200 },
  );
});

test.each([
  ['PRAGMA wal_checkpoint', 'PASSIVE'],
  ['pragma main.wal_checkpoint(Truncate);', 'TRUNCATE'],
  ['PRAGMA wal_checkpoint=FULL', 'FULL'],
  ['PRAGMA wal_checkpoint(?)', null],
  ['PRAGMA wal_autocheckpoint=?', undefined],
])('mode of %s', (text, mode) => expect(modeOfText(text)).toBe(mode));

test('many events', { timeout: 60_000 }, () => {
  const store = syntheticStore({ events: MANY });
  const from = process.cpuUsage();
  const histories = walHistories(store);
  const checkpoints = checkpointsOf(store);
  expectCheap(from);
  expect(histories).toHaveLength(1);
  expect(checkpoints.length).toBeGreaterThan(MANY / 100_000);
});
