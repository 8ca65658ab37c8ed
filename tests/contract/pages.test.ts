// Statements, pages, runs, and amplification of known SQL on a real engine: SQLite 3.53, page size
// 4096, an in-memory VFS.
import { afterEach, describe, expect, it } from 'vitest';
import { pageMatrix } from '../../src/analysis/pages/page-matrix.ts';
import type { ObjectPages } from '../../src/analysis/pages/pages.ts';
import { cutTo } from '../../src/analysis/report/cut.ts';
import type { StatementRow } from '../../src/analysis/statements/statement-table.ts';
import { Op } from '../../src/event/event.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { storeOf } from './helpers/store.ts';
import { Traced } from './helpers/traced.ts';
import { CREATE_T, insertT, loadWaSqlite, type Sqlite } from './helpers/wa-sqlite.ts';
import {
  cacheReport,
  databaseFilesOf,
  interleavingOf,
  missRatiosOf,
  pageAccessesOf,
  pagesOf,
  repeatedCallsOf,
  runsOf,
  statementTable,
  writeAmplificationOf,
} from '../traces/analyses.ts';

let traced: Traced | undefined;
afterEach(() => {
  traced?.restore();
  traced = undefined;
});

interface Engine {
  t: Traced;
  sqlite3: Sqlite;
  db: number;
  exec: (sql: string) => Promise<number>;
  /** Bytes of a file, as the VFS holds it. */
  bytes: (name: string) => Uint8Array;
}
async function start(pragmas = ''): Promise<Engine> {
  const t = (traced = new Traced());
  const { sqlite3, vfs } = await loadWaSqlite('journey-sync');
  const db = await sqlite3.open_v2('app.db');
  if (pragmas) await sqlite3.exec(db, pragmas);
  const bytes = (name: string): Uint8Array => {
    const files = vfs.mapNameToFile as Map<string, { data: ArrayBuffer; size: number }>;
    const [, file] = [...files].find(([path]) => path.endsWith(name))!;
    return new Uint8Array(file.data.slice(0, file.size));
  };
  return { t, sqlite3, db, exec: (sql) => sqlite3.exec(db, sql), bytes };
}
const FILL =
  'CREATE TABLE t(a INTEGER PRIMARY KEY,b INT,c TEXT); ' +
  "WITH RECURSIVE c(x) AS(VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<20000) INSERT INTO t SELECT x,x*7,'text number '||x FROM c;";
const exclusiveWal = 'PRAGMA locking_mode=exclusive; PRAGMA journal_mode=wal;';
const since = (t: Traced, mark: number): { store: TraceStore; range: { fromUs: number } } => {
  const first = t.since(mark)[0]!;
  const store = storeOf(t);
  const { events } = store.threads[0]!;
  return { store, range: { fromUs: events.t0[events.rowOfSeq(first.seq)]! } };
};
const part = (store: TraceStore, { fromUs }: { fromUs: number }): TraceStore =>
  cutTo(store, [[fromUs, Infinity]]).store;
const statement = (store: TraceStore, range: { fromUs: number }, text: string): StatementRow => {
  const row = statementTable(store, range)!.rows.find((r) => r.text?.startsWith(text));
  if (!row) throw new Error(`no statement ${text}`);
  return row;
};
const onlyDatabase = (store: TraceStore, range = {}): ObjectPages => {
  const [pages, ...rest] = pagesOf(store, range);
  expect(rest).toEqual([]);
  return pages!;
};

describe('1000 autocommit inserts', () => {
  it('delete mode: 25 VFS calls each, 2 pages each, twice the bytes', async () => {
    const { t, exec } = await start(CREATE_T);
    const mark = t.mark();
    for (let i = 0; i < 1000; i++) await exec(insertT(i));
    const { store, range } = since(t, mark);
    const insert = statement(store, range, 'insert into t');
    expect(insert).toMatchObject({
      executions: 1000,
      failed: 0,
      running: 0,
      rows: 0,
      pages: { written: 2007, walWritten: 0 },
    });
    // 25 that lock, open, read, write, sync, or delete, and ten that only query or inform
    const { op, count } = store.threads[0]!.events;
    const asking = [Op.xFileSize, Op.xFileControl, Op.xSectorSize, Op.xDeviceCharacteristics];
    let [calls, questions] = [0, 0];
    for (let row = t.rows.indexOf(t.since(mark)[0]!); row < count; row++) {
      if (op[row]! >= 64) continue;
      calls++;
      if (asking.includes(op[row] as 6)) questions++;
    }
    expect(insert.vfsCalls! + insert.prepareVfsCalls!).toBe(calls);
    expect((insert.vfsCalls! - questions) / 1000).toBeCloseTo(25, 1);
    // a time: nothing else runs, but the machine's own work between two calls counts, too
    expect(insert.share).toBeGreaterThan(0.5);
    const [amplification] = writeAmplificationOf(part(store, range));
    expect(amplification).toMatchObject({
      dirtyPagesByTransaction: 2007,
      pageBytes: 4096,
      storageBytes: null,
    });
    // 8028 KB of pages, 8527 KB of journal
    expect(amplification!.vfsAmplification).toBeCloseTo((8028 + 8527) / 8028, 3);
    expect(onlyDatabase(store, range)).toMatchObject({
      writes: 2007,
      placesWritten: amplification!.dirtyPages,
    });
    expect(interleavingOf(part(store, range))).toMatchObject([
      { databaseWrites: 2007, journalWrites: 8000, switches: 1999 },
    ]);
    const access = repeatedCallsOf(part(store, range)).filter(
      (c) => c.name === 'xAccess' && c.path.endsWith('-wal'),
    );
    expect(access).toMatchObject([{ calls: 1000, repeated: 999 }]);
  });

  it('exclusive WAL: 2 calls each; every frame belongs to its page, and checkpoints copy', async () => {
    const { t, exec, bytes } = await start(exclusiveWal + CREATE_T);
    const mark = t.mark();
    for (let i = 0; i < 1000; i++) await exec(insertT(i));
    await exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const { store, range } = since(t, mark);
    const insert = statement(store, range, 'insert into t');
    expect(insert.vfsCallsPerExecution).toBeLessThan(4.2);
    expect(insert.pages!.walWritten).toBeGreaterThan(1000);
    const pages = onlyDatabase(store);
    expect(pages.untied).toBe(0);
    expect(pages.checkpointWrites).toBe(pages.checkpointReads);
    // frames in the log include every page of the file
    expect([...pages.places.place]).toEqual(
      Array.from({ length: bytes('app.db').length / 4096 }, (_, i) => i + 1),
    );
    expect([...pages.places.walWrites].every((n) => n > 0)).toBe(true);
    expect(pages.places.type[pages.places.count - 1]).toBe(13);
  });
});

it('1000 warm selects by key are 7 calls each, and page cache hits', async () => {
  const { t, exec } = await start(FILL);
  await exec('SELECT c FROM t WHERE a=0');
  const mark = t.mark();
  for (let i = 0; i < 1000; i++) await exec('SELECT c FROM t WHERE a=5');
  const { store, range } = since(t, mark);
  const select = statement(store, range, 'select c from t');
  expect(select).toMatchObject({
    executions: 1000,
    rows: 1000,
    vfsCalls: 7000,
    pages: { read: 0 },
    failed: 0,
  });
  expect(select.cache!.misses).toBe(0);
  expect(select.cache!.hits).toBeGreaterThan(1000);
});

it('three scans of 141 pages: no reads at 2 MB; at 256 KB all again except the root, which is used last and first', async () => {
  for (const [kib, reads] of [
    [2000, 0],
    [256, 420],
  ] as const) {
    const { t, exec } = await start(FILL);
    await exec(`PRAGMA cache_size=-${kib}; SELECT sum(b) FROM t`);
    const mark = t.mark();
    for (let i = 0; i < 3; i++) await exec('SELECT sum(b) FROM t');
    const { store, range } = since(t, mark);
    const scan = statement(store, range, 'select sum');
    expect([scan.executions, scan.pages!.read, scan.cache!.misses]).toEqual([3, reads, reads]);
    if (reads) {
      expect(onlyDatabase(store, range)).toMatchObject({
        reads,
        rereads: reads,
        placesRead: 140,
        readsPerPlace: 3,
      });
      expect(
        runsOf(part(store, range)).find((f) => f.kind === 'main-db')!.reads.longest,
      ).toBeGreaterThan(100);
      expect(cacheReport(part(store, range)).blockCaches).toMatchObject([{ reads, hitRate: null }]);
    }
    traced!.restore();
  }
});

it('an update larger than the cache spills: it is counted and interleaved, and no cache smaller than its pages is advised', async () => {
  const { t, exec } = await start(FILL);
  await exec('PRAGMA cache_size=30');
  const mark = t.mark();
  await exec('UPDATE t SET b=b+1');
  const { store, range } = since(t, mark);
  const update = statement(store, range, 'update t');
  expect(update.cache!.spills).toBeGreaterThan(10);
  expect(update.pages!.written).toBeGreaterThanOrEqual(141);
  expect(interleavingOf(part(store, range))[0]!.switches).toBeGreaterThan(3);
  expect(missRatiosOf(part(store, range))[0]!.goal?.pages ?? Infinity).toBeGreaterThan(141);
});

describe('checkpoints', () => {
  it('a bulk load is copied as one run, and 60 hot pages as many', async () => {
    const { t, exec } = await start(
      `${exclusiveWal}PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=50;`,
    );
    await exec(
      'CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b TEXT); WITH RECURSIVE c(x) AS(VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<20000) ' +
        "INSERT INTO t SELECT x,x,printf('%0100d',x) FROM c",
    );
    const updates = async (): Promise<void> => {
      for (let i = 0; i < 40; i++)
        await exec(`UPDATE t SET a=a+1 WHERE id=${((i * 7919) % 20000) + 1}`);
    };
    await updates();
    let mark = t.mark();
    await exec('PRAGMA wal_checkpoint(PASSIVE)');
    const passive = since(t, mark);
    const copied = onlyDatabase(passive.store, passive.range);
    expect([copied.checkpointReads, copied.reads]).toEqual([copied.checkpointWrites, 0]);
    expect(copied.checkpointWrites).toBeGreaterThan(500);
    const bulk = runsOf(part(passive.store, passive.range)).find((f) => f.kind === 'main-db')!;
    expect(bulk.writes).toMatchObject({
      calls: copied.checkpointWrites,
      runs: 1,
      possibleMerges: copied.checkpointWrites - 1,
    });
    await updates();
    mark = t.mark();
    await exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const hot = since(t, mark);
    const { writes } = runsOf(part(hot.store, hot.range)).find((f) => f.kind === 'main-db')!;
    expect(writes.calls).toBeLessThan(60);
    expect(writes.runs / writes.calls).toBeGreaterThan(0.8);
    // the copied pages were not requested
    expect(missRatiosOf(part(hot.store, hot.range))).toEqual([]);
  });
});

it.each([512, 1024, 8192, 65536])(
  'page size %i, and the map of a bulk load in a few cells',
  async (size) => {
    const { t, exec, bytes } = await start(`PRAGMA page_size=${size};${FILL}`);
    await exec('PRAGMA cache_size=1; SELECT sum(b) FROM t');
    const store = storeOf(t);
    expect(databaseFilesOf(store).list).toMatchObject([
      { pageSize: { bytes: size, certain: true } },
    ]);
    const accesses = pageAccessesOf(store);
    const pages = pagesOf(store, {}, accesses)[0]!;
    expect(pages.highest).toBe(bytes('app.db').length / size);
    const [fromUs, toUs] = store.extent();
    const map = pageMatrix(accesses, {
      object: 0,
      fromUs,
      toUs: toUs + 1,
      timeBins: 4,
      placeBins: 8,
    });
    expect(map.writes.reduce((a, b) => a + b, 0)).toBe(pages.writes);
    expect(map.type.includes(13)).toBe(true);
  },
);
