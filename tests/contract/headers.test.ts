// SQLite's headers decoded from passing writes, compared with the bytes that the VFS holds, and
// with the SQL that ran.
import { afterEach, describe, expect, it } from 'vitest';
import { Op, AUX_WAL_HEADER } from '../../src/event/event.ts';
import { storeOf } from './helpers/store.ts';
import { Traced, type Row } from './helpers/traced.ts';
import { CREATE_T, insertT, loadWaSqlite, type Build, type WaSqlite } from './helpers/wa-sqlite.ts';
import { commitsOf, transactionsOf } from '../traces/analyses.ts';

let traced: Traced | null = null;
afterEach(() => {
  traced?.restore();
  traced = null;
});

const BUILDS = ['journey-sync', 'journey-async'] as const;
const exclusive = 'PRAGMA locking_mode=exclusive;';
const PAGE = 4096;

async function start(
  build: Build,
  pragmas: string,
): Promise<WaSqlite & { t: Traced; db: number; bytes: (name: string) => DataView }> {
  const t = (traced = new Traced());
  const engine = await loadWaSqlite(build);
  const db = await engine.sqlite3.open_v2('h.db');
  if (pragmas) await engine.sqlite3.exec(db, pragmas);
  const files = engine.vfs.mapNameToFile as Map<string, { data: ArrayBuffer; size: number }>;
  const bytes = (name: string): DataView => {
    const [, file] = [...files].find(([path]) => path.endsWith(name))!;
    return new DataView(file.data.slice(0, file.size));
  };
  return { ...engine, t, db, bytes };
}
const of = (t: Traced, rows: Row[], op: number, kind: string): Row[] =>
  rows.filter((r) => r.op === op && t.kind(r) === kind);
const frames = (rows: Row[]): Row[] => rows.filter((r) => r.aux !== 0 && r.aux !== AUX_WAL_HEADER);

describe.each(BUILDS)('write-ahead log, %s', (build) => {
  it('1000 autocommit inserts are 1000 commit frames, with a frame for every page written', async () => {
    const { t, db, sqlite3, bytes } = await start(
      build,
      `${exclusive}PRAGMA journal_mode=wal;${CREATE_T}`,
    );
    const mark = t.mark();
    for (let i = 0; i < 1000; i++) await sqlite3.exec(db, insertT(i));
    const writes = of(t, t.since(mark), Op.xWrite, 'wal');
    const seen = frames(writes);
    expect(seen.filter((r) => r.aux2 > 0)).toHaveLength(1000);
    expect(seen).toHaveLength(writes.filter((r) => r.length === PAGE).length);
    expect(seen.every((r) => r.length === 24 && (r.offset - 32) % (24 + PAGE) === 0)).toBe(true);
    // their pages have a type, except page 1
    expect(writes.filter((r) => r.length === PAGE && r.aux)).toEqual([]);
    expect(new Set(writes.filter((r) => r.length === PAGE).map((r) => r.aux2))).toEqual(
      new Set([0, 5, 13]),
    );
    const [header] = of(t, t.all(), Op.xWrite, 'wal').filter((r) => r.aux === AUX_WAL_HEADER);
    expect([header!.length, header!.offset]).toEqual([32, 0]);
    // the log on the VFS: the last write at each offset is its content
    const log = bytes('-wal');
    const last = new Map(
      of(t, t.all(), Op.xWrite, 'wal').map((r) => [`${r.offset} ${r.length}`, r]),
    );
    const headers = of(t, t.all(), Op.xWrite, 'wal').filter((r) => r.aux === AUX_WAL_HEADER);
    expect(headers.at(-1)!.aux2).toBe(log.getUint32(16));
    expect(new Set(headers.map((r) => r.aux2)).size).toBe(headers.length);
    let n = 0;
    for (let at = 32; at < log.byteLength; at += 24 + PAGE, n++) {
      const row = last.get(`${at} 24`)!;
      expect([row.aux, row.aux2]).toEqual([log.getUint32(at), log.getUint32(at + 4)]);
      expect(last.get(`${at + 24} ${PAGE}`)!.aux2).toBe(
        log.getUint32(at) === 1 ? 0 : log.getUint8(at + 24),
      );
    }
    expect(n).toBeGreaterThan(900);
    expect(commitsOf(storeOf(t, t.since(mark))).count).toBe(1000);
    expect(t.counters().faults).toBe(0);
  });

  it('synchronous=full pads a commit with copies of its frame, some of them split, and commits are still the transactions', async () => {
    const { t, db, sqlite3 } = await start(
      build,
      `${exclusive}PRAGMA journal_mode=wal;PRAGMA synchronous=full;${CREATE_T}`,
    );
    const mark = t.mark();
    for (let i = 0; i < 200; i++) await sqlite3.exec(db, insertT(i));
    const writes = of(t, t.since(mark), Op.xWrite, 'wal');
    const seen = frames(writes);
    expect(seen.some((r) => r.length < 24)).toBe(true);
    expect(seen.filter((r) => r.aux2 > 0).length).toBeGreaterThan(200);
    // every frame's start in the log is detected
    const starts = new Set(
      writes
        .filter((r) => r.offset >= 32 && (r.offset - 32) % (24 + PAGE) === 0)
        .map((r) => r.offset),
    );
    expect(new Set(seen.map((r) => r.offset))).toEqual(starts);
    expect(commitsOf(storeOf(t, t.since(mark))).count).toBe(200);
    const without = [...transactionsOf(storeOf(t, t.all(), [Op.xFileControl])).list].filter(
      (c) => c.commitPoint === 'wal',
    );
    expect(without).toHaveLength(201); // and CREATE TABLE
  });

  it('recovery reads the frames that were written', async () => {
    const { t, db, sqlite3 } = await start(
      build,
      `${exclusive}PRAGMA journal_mode=wal;PRAGMA wal_autocheckpoint=0;${CREATE_T}`,
    );
    for (let i = 0; i < 50; i++) await sqlite3.exec(db, insertT(i));
    const written = frames(of(t, t.all(), Op.xWrite, 'wal')).map((r) => [r.aux, r.aux2]);
    const mark = t.mark();
    const other = await sqlite3.open_v2('h.db'); // this VFS locks nothing, as after a crash
    const answer: unknown[] = [];
    await sqlite3.exec(other, `${exclusive}SELECT count(*) FROM t`, (row) => answer.push(row[0]));
    expect(answer).toContain(50);
    const reads = of(t, t.since(mark), Op.xRead, 'wal');
    expect(frames(reads).map((r) => [r.aux, r.aux2])).toEqual(written);
    expect(reads.filter((r) => r.aux === AUX_WAL_HEADER).length).toBeGreaterThan(0);
    await sqlite3.close(db);
  });
});

describe.each(BUILDS)('database pages, %s', (build) => {
  it('types of the pages read and written match the file', async () => {
    const { t, db, sqlite3, bytes } = await start(build, 'PRAGMA cache_size=10;');
    await sqlite3.exec(
      db,
      'CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c BLOB); CREATE INDEX tb ON t(b); BEGIN',
    );
    for (let i = 0; i < 1500; i++)
      await sqlite3.exec(
        db,
        `INSERT INTO t VALUES(${i}, 'key ${(i * 7919) % 1500} of some length', zeroblob(${i % 100 ? 40 : 9000}))`,
      );
    await sqlite3.exec(db, 'COMMIT');
    const mark = t.mark();
    await sqlite3.exec(
      db,
      'SELECT count(b), sum(length(c)) FROM t; SELECT count(*) FROM t NOT INDEXED WHERE c IS NOT NULL; PRAGMA integrity_check',
    );
    const file = bytes('h.db');
    const typeAt = (offset: number): number => {
      const byte = file.getUint8(offset === 0 ? 100 : offset);
      return [2, 5, 10, 13].includes(byte) ? byte : 0;
    };
    const reads = of(t, t.since(mark), Op.xRead, 'main-db').filter((r) => r.length >= 512);
    expect(new Set(reads.map((r) => r.aux2))).toEqual(new Set([0, 2, 5, 10, 13]));
    expect(reads.map((r) => r.aux2)).toEqual(reads.map((r) => typeAt(r.offset)));
    const writes = new Map(of(t, t.all(), Op.xWrite, 'main-db').map((r) => [r.offset, r.aux2]));
    expect(writes.size).toBe(file.byteLength / PAGE);
    for (const [offset, type] of writes) expect([offset, type]).toEqual([offset, typeAt(offset)]);
    // for writes that aren't a page, only the 16 bytes at 24 show something
    expect(
      of(t, t.all(), Op.xRead, 'main-db').filter(
        (r) => r.length < 512 && r.offset !== 24 && (r.aux || r.aux2),
      ),
    ).toEqual([]);
    await sqlite3.close(db);
  });

  it('in persist mode a zeroed journal header is a commit', async () => {
    const { t, db, sqlite3 } = await start(build, `PRAGMA journal_mode=persist;${CREATE_T}`);
    const mark = t.mark();
    for (let i = 0; i < 100; i++) await sqlite3.exec(db, insertT(i));
    const zeroed = of(t, t.since(mark), Op.xWrite, 'journal').filter((r) => r.aux2 === 1);
    expect(zeroed).toHaveLength(100);
    expect(zeroed.every((r) => r.offset === 0 && r.length === 28)).toBe(true);
    expect(commitsOf(storeOf(t, t.since(mark))).count).toBe(100);
    await sqlite3.close(db);
  });
});
