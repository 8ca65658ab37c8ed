// Decoders of SQLite's own bytes, against files that real SQLite wrote and what its PRAGMAs say of them.
import { describe, expect, test } from 'vitest';
import { decodeJournalHeader, journalWriteOf, type JournalWrite } from '../../src/trace/sqlite-format/journal.ts';
import { decodeDatabaseHeader, decodeDatabaseStart, isPointerMapPage, PageType, pageTypeOf } from '../../src/trace/sqlite-format/page.ts';
import { decodeWalFrameHeader, decodeWalHeader, WAL_FRAME_HEADER, WAL_HEADER } from '../../src/trace/sqlite-format/wal.ts';
import { WalTracker, WalWrite } from '../../src/trace/sqlite-format/wal-tracker.ts';
import { firstWords } from '../../src/trace/sqlite-format/words.ts';
import { loadWaSqlite } from '../contract/helpers/wa-sqlite.ts';

const COMMIT_PHASETWO = 22;
const POWERSAFE_OVERWRITE = 0x1000;

interface Write {
  path: string;
  offset: number;
  bytes: Uint8Array;
}
interface MemoryFile {
  pathname: string;
  size: number;
  data: ArrayBuffer;
}
type Row = (number | string | null)[];

/** A database in memory whose VFS tells every write. */
async function database(characteristics = 0) {
  const { sqlite3, vfs } = await loadWaSqlite('journey-sync');
  const files = vfs.mapIdToFile as Map<number, MemoryFile>;
  const writes: Write[] = [];
  const wal = new WalTracker();
  /** What the tracker said to each write of the WAL. */
  const said: { code: number; page: number; frame: number }[] = [];
  const method = <A extends unknown[]>(name: string): ((...args: A) => number) => (vfs[name] as (...args: A) => number).bind(vfs);
  const write = method<[number, Uint8Array, number]>('jWrite');
  vfs.jWrite = (file: number, data: Uint8Array, offset: number): number => {
    const path = files.get(file)!.pathname;
    const bytes = data.slice();
    writes.push({ path, offset, bytes });
    if (path.endsWith('-wal')) {
      const code = wal.write(offset, bytes.length, firstWords(bytes.subarray(0, 32)));
      said.push({ code, page: wal.page, frame: wal.frame });
    }
    return write(file, data, offset);
  };
  const truncate = method<[number, number]>('jTruncate');
  vfs.jTruncate = (file: number, size: number): number => {
    if (files.get(file)!.pathname.endsWith('-wal')) wal.truncate(size);
    return truncate(file, size);
  };
  const control = method<[number, number, unknown]>('jFileControl');
  vfs.jFileControl = (file: number, op: number, argument: unknown): number => {
    if (op === COMMIT_PHASETWO) wal.boundary();
    return control(file, op, argument);
  };
  vfs.jDeviceCharacteristics = () => characteristics;
  const db = await sqlite3.open_v2('test.db');
  const sql = async (text: string): Promise<Row[]> => {
    const rows: Row[] = [];
    await sqlite3.exec(db, text, (row) => rows.push(row as Row));
    return rows;
  };
  const one = async (text: string): Promise<number | string | null> => (await sql(text))[0]![0]!;
  const file = (path: string): Uint8Array => {
    const found = (vfs.mapNameToFile as Map<string, MemoryFile>).get(path)!;
    return new Uint8Array(found.data).slice(0, found.size);
  };
  return { sql, one, file, writes, wal, said, close: () => sqlite3.close(db) };
}

/** The WAL as a recovery reads it: frames with the header's salts and right checksums, from the first on. */
function recover(bytes: Uint8Array): { frames: number; pages: number[]; commitSizes: number[] } {
  const words = firstWords(bytes, new Uint32Array(bytes.length >>> 2));
  const header = decodeWalHeader(words)!;
  let [a, b] = [0, 0];
  const add = (from: number, count: number): void => {
    for (let i = from; i < from + count; i += 2) {
      const swap = (n: number): number => ((n << 24) | ((n & 0xff00) << 8) | ((n >>> 8) & 0xff00) | (n >>> 24)) >>> 0;
      const value = header.bigEndianChecksums ? (n: number): number => n : swap;
      a = (a + value(words[i]!) + b) >>> 0;
      b = (b + value(words[i + 1]!) + a) >>> 0;
    }
  };
  add(0, 6);
  if (a !== header.checksum1 || b !== header.checksum2) throw new Error('the WAL header has a wrong checksum');
  const pages: number[] = [];
  const commitSizes: number[] = [];
  const each = (WAL_FRAME_HEADER + header.pageSize) / 4;
  for (let at = WAL_HEADER / 4; at + each <= words.length; at += each) {
    const frame = decodeWalFrameHeader(words.subarray(at))!;
    add(at, 2);
    add(at + 6, header.pageSize / 4);
    if (frame.salt1 !== header.salt1 || frame.checksum1 !== a || frame.checksum2 !== b) break;
    pages.push(frame.page);
    commitSizes.push(frame.commitSize);
  }
  const frames = commitSizes.findLastIndex((size) => size !== 0) + 1;
  return { frames, pages: pages.slice(0, frames), commitSizes: commitSizes.slice(0, frames) };
}

const WAL = 'PRAGMA locking_mode=exclusive; PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0;';
const fill = (rows: number, from = 0): string =>
  `WITH RECURSIVE c(x) AS (SELECT ${from + 1} UNION ALL SELECT x+1 FROM c WHERE x<${from + rows}) INSERT INTO t SELECT x,printf('%0100d',x) FROM c;`;

describe('WAL', () => {
  test.each([512, 4096, 65536])('page size %i: every frame, its page, and every commit', async (pageSize) => {
    const { sql, one, file, wal, said, close } = await database(POWERSAFE_OVERWRITE);
    await sql(`PRAGMA page_size=${pageSize}; ${WAL}`);
    expect(await one('PRAGMA journal_mode')).toBe('wal');
    await sql('CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT)');
    for (let i = 0; i < 20; i++) await sql(fill(50, i * 50));
    for (let i = 0; i < 5; i++) await sql(`UPDATE t SET b=${i} WHERE a=7`); // the same single page again and again
    expect(wal.pageSize).toBe(pageSize);
    // creating the database by journal_mode=wal is a transaction of its own before the WAL exists
    expect(wal.commits).toBe(26);
    expect(wal.unseenFrames).toBe(0);
    const recovered = recover(file('/test.db-wal'));
    expect(wal.lastCommit).toBe(recovered.frames);
    expect(wal.frames).toBe(recovered.frames);
    expect(said.filter((s) => s.code === WalWrite.frames).map((s) => s.page)).toEqual(recovered.pages);
    expect(wal.commits).toBe(recovered.commitSizes.filter((size) => size).length);
    expect(wal.databasePages).toBe(await one('PRAGMA page_count'));
    const [busy, log] = (await sql('PRAGMA wal_checkpoint(PASSIVE)'))[0]!;
    expect([busy, log]).toEqual([0, wal.lastCommit]);
    await close();
  });

  test('restart, then truncation, then use again', async () => {
    const { sql, wal, file, said, close } = await database(POWERSAFE_OVERWRITE);
    await sql(`${WAL} CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); ${fill(500)}`);
    const [before, salt] = [wal.lastCommit, wal.header!.salt1];
    expect([wal.restarts, said.filter((s) => s.code === WalWrite.header).length]).toEqual([0, 1]);
    await sql(`PRAGMA wal_checkpoint(RESTART); ${fill(3, 500)}`);
    expect(wal.restarts).toBe(1);
    expect(wal.header!.salt1).toBe((salt + 1) >>> 0); // so SQLite chooses the next salt
    expect(wal.lastCommit).toBeLessThan(before);
    expect(wal.lastCommit).toBe(recover(file('/test.db-wal')).frames);
    await sql('PRAGMA wal_checkpoint(TRUNCATE)');
    expect([wal.lastCommit, wal.header, wal.pageSize]).toEqual([0, null, 4096]);
    await sql(fill(3, 503));
    expect(wal.restarts).toBe(1);
    expect(wal.lastCommit).toBe(recover(file('/test.db-wal')).frames);
    await close();
  });

  test('a spilled transaction rewrites pages and checksums; a rolled back one leaves its frames to be replaced', async () => {
    const { sql, wal, file, said, close } = await database(POWERSAFE_OVERWRITE);
    await sql(`${WAL} PRAGMA cache_size=5; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); ${fill(2000)}`);
    const committed = wal.lastCommit;
    await sql(`BEGIN; UPDATE t SET b=b||'x'; ROLLBACK`);
    expect(wal.lastFrame).toBeGreaterThan(committed);
    expect(wal.lastCommit).toBe(committed);
    const commits = wal.commits;
    await sql(`BEGIN; UPDATE t SET b=b||'y'; UPDATE t SET b=b||'z'; COMMIT`);
    expect(said.some((s) => s.code === WalWrite.repeat)).toBe(true);
    expect(wal.commits).toBe(commits + 1);
    expect(wal.lastCommit).toBe(recover(file('/test.db-wal')).frames);
    await sql(`UPDATE t SET b=1 WHERE a=1`);
    expect(wal.commits).toBe(commits + 2);
    expect(wal.lastFrame).toBe(recover(file('/test.db-wal')).frames);
    await close();
  });

  test('padding to the sector is not a commit', async () => {
    const { sql, wal, file, said, close } = await database();
    await sql(`PRAGMA page_size=512; ${WAL} PRAGMA synchronous=full; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);`);
    for (let i = 0; i < 100; i++) await sql(`INSERT OR REPLACE INTO t VALUES(1,${i})`);
    const recovered = recover(file('/test.db-wal'));
    const repeats = said.filter((s) => s.code === WalWrite.repeat).length;
    expect(repeats).toBeGreaterThan(50);
    expect(wal.commits).toBe(101);
    expect(wal.lastCommit).toBe(recovered.frames);
    expect(wal.frames).toBe(recovered.frames);
    expect(recovered.commitSizes.filter((size) => size).length).toBe(101 + repeats);
    await close();
  });

  test('frames written at once, as Turso does; several in one write', async () => {
    const { sql, wal, file, close } = await database(POWERSAFE_OVERWRITE);
    await sql(`${WAL} CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); ${fill(300)} ${fill(300, 300)}`);
    const bytes = file('/test.db-wal').subarray(0, WAL_HEADER + wal.lastFrame * 4120);
    const at = (from: number, length: number): [number, number, Uint32Array] => [from, length, firstWords(bytes.subarray(from, from + 32))];
    const single = new WalTracker();
    expect(single.write(...at(0, WAL_HEADER))).toBe(WalWrite.header);
    for (let f = 0; f < wal.lastFrame; f++) expect(single.write(...at(WAL_HEADER + f * 4120, 4120))).toBe(WalWrite.frames);
    expect([single.frames, single.commits, single.lastCommit, single.databasePages]).toEqual([
      wal.frames,
      wal.commits,
      wal.lastCommit,
      wal.databasePages,
    ]);
    // the header was not seen: the writes tell the page size
    const late = new WalTracker();
    for (let f = 2; f < wal.lastFrame; f++) late.write(...at(WAL_HEADER + f * 4120, 4120));
    expect([late.pageSize, late.frames, late.lastCommit]).toEqual([4096, wal.frames - 2, wal.lastCommit]);
    const pairs = new WalTracker();
    for (let f = 2; f < wal.lastFrame; f++) {
      pairs.write(...at(WAL_HEADER + f * 4120, 24));
      pairs.write(...at(WAL_HEADER + f * 4120 + 24, 4096));
    }
    expect([pairs.pageSize, pairs.frames, pairs.commits]).toEqual([4096, late.frames, late.commits]);
    const all = new WalTracker();
    all.write(...at(0, WAL_HEADER));
    expect(all.write(...at(WAL_HEADER, 3 * 4120))).toBe(WalWrite.frames);
    expect([all.frame, all.framesInWrite, all.frames, all.unseenFrames, all.lastFrame]).toEqual([1, 3, 3, 2, 3]);
    const one = new WalTracker();
    expect(one.write(0, bytes.length, firstWords(bytes))).toBe(WalWrite.header);
    expect([one.frames, one.unseenFrames]).toEqual([wal.lastFrame, wal.lastFrame]);
    await close();
  });

  test('what is no WAL is told so', () => {
    const tracker = new WalTracker();
    const zeros = new Uint32Array(8);
    expect(tracker.write(0, 32, zeros)).toBe(WalWrite.other);
    expect(tracker.write(0, 32, Uint32Array.of(0x377f0682, 3007000, 4095, 0, 1, 2, 3, 4))).toBe(WalWrite.other);
    expect(tracker.write(0, 32, Uint32Array.of(0x377f0683, 3007000, 4096, 0, 1, 2, 3, 4))).toBe(WalWrite.header);
    expect(tracker.write(32, 24, Uint32Array.of(3, 0, 1, 9, 0, 0))).toBe(WalWrite.other); // salts of another generation
    expect(tracker.write(33, 24, Uint32Array.of(3, 0, 1, 2, 0, 0))).toBe(WalWrite.other);
    expect(tracker.write(32, 24, Uint32Array.of(3, 0, 1, 2, 0, 0))).toBe(WalWrite.frames);
    expect([tracker.frames, tracker.commits]).toEqual([1, 0]);
  });
});

describe('pages', () => {
  test.each([
    [512, 'none'],
    [4096, 'full'],
    [65536, 'incremental'],
  ] as const)('page size %i, auto_vacuum %s', async (pageSize, vacuum) => {
    const { sql, one, file, close } = await database();
    await sql(`PRAGMA page_size=${pageSize}; PRAGMA auto_vacuum=${vacuum}; PRAGMA user_version=-7; PRAGMA application_id=1234;
      CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); CREATE INDEX i ON t(b); ${fill(30_000)}
      INSERT INTO t VALUES(-1, hex(zeroblob(200000))); CREATE TABLE gone AS SELECT * FROM t WHERE a BETWEEN 0 AND 5000; DROP TABLE gone;`);
    const bytes = file('/test.db');
    const header = decodeDatabaseHeader(bytes)!;
    const pragma = async (name: string): Promise<number | string | null> => one(`PRAGMA ${name}`);
    expect(header).toMatchObject({
      pageSize,
      pageCount: await pragma('page_count'),
      freelistPages: await pragma('freelist_count'),
      schemaCookie: await pragma('schema_version'),
      userVersion: -7,
      applicationId: 1234,
      textEncoding: 1,
      incrementalVacuum: vacuum === 'incremental',
      writeVersion: 1,
      readVersion: 1,
      reservedBytes: 0,
      versionValidFor: header.changeCounter,
    });
    expect(header.largestRootPage > 0).toBe(vacuum !== 'none');
    const version = String(await one('SELECT sqlite_version()'))
      .split('.')
      .map(Number) as [number, number, number];
    expect(header.sqliteVersion).toBe(version[0] * 1_000_000 + version[1] * 1000 + version[2]);
    expect(decodeDatabaseStart(firstWords(bytes))).toMatchObject({
      pageSize,
      pageCount: header.pageCount,
      changeCounter: header.changeCounter,
    });
    expect(decodeDatabaseStart(firstWords(bytes.subarray(pageSize)))).toBeNull();
    expect(decodeDatabaseHeader(bytes.subarray(0, 99))).toBeNull();

    // walk the b-trees from their roots: the pages that are truly of each type
    const expected = new Map<number, number>();
    const u32 = (at: number): number => new DataView(bytes.buffer).getUint32(at);
    const u16 = (at: number): number => new DataView(bytes.buffer).getUint16(at);
    const visit = (page: number): void => {
      const base = (page - 1) * pageSize;
      const at = base + (page === 1 ? 100 : 0);
      expected.set(page, bytes[at]!);
      if (bytes[at] !== 2 && bytes[at] !== 5) return;
      for (let i = 0; i < u16(at + 3); i++) visit(u32(base + u16(at + 12 + 2 * i)));
      visit(u32(at + 8));
    };
    visit(1);
    for (const [root] of await sql('SELECT rootpage FROM sqlite_schema WHERE rootpage>0')) visit(Number(root));
    expect(new Set(expected.values())).toEqual(new Set([2, 5, 10, 13]));
    const usable = pageSize - header.reservedBytes;
    const wrong: number[] = [];
    for (let page = 1; page <= header.pageCount; page++) {
      const start = (page - 1) * pageSize;
      const type = pageTypeOf(bytes.subarray(start, start + pageSize), page, pageSize);
      if (expected.has(page)) expect(type).toBe(expected.get(page));
      else if (type !== PageType.other) wrong.push(page);
      if (vacuum !== 'none' && isPointerMapPage(page, usable)) expect(expected.has(page)).toBe(false);
    }
    expect(pageTypeOf(bytes.subarray(0, 32), 1, pageSize)).toBe(PageType.database);
    expect(pageTypeOf(bytes.subarray(pageSize, pageSize), 2, pageSize)).toBe(PageType.other);
    // a page on the freelist still looks like the b-tree page that it was; overflow and pointer map pages do not
    expect(wrong.length).toBeLessThanOrEqual(header.freelistPages);
    await close();
  });

  test('WAL is said in the header', async () => {
    const { sql, file, close } = await database();
    await sql(`${WAL} CREATE TABLE t(a); PRAGMA wal_checkpoint(TRUNCATE)`);
    expect(decodeDatabaseHeader(file('/test.db'))).toMatchObject({ writeVersion: 2, readVersion: 2 });
    await close();
  });
});

describe('rollback journal', () => {
  const kindsOf = (writes: readonly Write[]): JournalWrite[] =>
    writes.filter((w) => w.path.endsWith('-journal')).map((w) => journalWriteOf(w.offset, w.bytes.length, firstWords(w.bytes)));
  const named = (kinds: readonly JournalWrite[]): JournalWrite[] => kinds.filter((k) => k !== 'other');

  test.each([512, 4096, 65536])('page size %i, persist: header, count at the sync, zeroed by the commit', async (pageSize) => {
    const { sql, one, writes, close } = await database();
    await sql(`PRAGMA page_size=${pageSize}; PRAGMA journal_mode=persist; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); ${fill(1000)}`);
    const pages = await one('PRAGMA page_count');
    writes.length = 0;
    await sql(`UPDATE t SET b='x' WHERE a%100=0`);
    const journal = writes.filter((w) => w.path.endsWith('-journal'));
    expect(named(kindsOf(journal))).toEqual(['header', 'count', 'zeroed']);
    const header = journal.find((w) => journalWriteOf(w.offset, w.bytes.length, firstWords(w.bytes)) === 'header')!;
    const decoded = decodeJournalHeader(firstWords(header.bytes))!;
    expect(decoded).toMatchObject({ initialPages: pages, pageSize, valid: false, records: null });
    const images = journal.filter((w) => w.bytes.length === pageSize && w !== header);
    const count = journal.find((w) => w.bytes.length === 12)!;
    expect(firstWords(count.bytes)[2]).toBe(images.length);
    expect(images[0]!.offset).toBe(decoded.sectorSize + 4);
    // as a recovery would find it after the sync
    const found = firstWords(header.bytes).slice();
    found.set(firstWords(count.bytes));
    expect(decodeJournalHeader(found)).toMatchObject({ records: images.length, valid: true });
    writes.length = 0;
    for (let i = 0; i < 10; i++) await sql(`UPDATE t SET b=b||'x' WHERE a=${i + 1}`);
    expect(kindsOf(writes).filter((k) => k === 'zeroed')).toHaveLength(10);
    await close();
  });

  test('a spilling transaction has several headers; delete mode zeroes nothing', async () => {
    const { sql, writes, close } = await database();
    await sql(`PRAGMA journal_mode=delete; PRAGMA cache_size=5; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); ${fill(3000)}`);
    writes.length = 0;
    await sql(`UPDATE t SET b=b||'x'`);
    const kinds = named(kindsOf(writes));
    expect(kinds.filter((k) => k === 'header').length).toBeGreaterThan(1);
    expect(kinds.filter((k) => k === 'count').length).toBe(kinds.filter((k) => k === 'header').length);
    expect(kinds).not.toContain('zeroed');
    await close();
  });

  test('a device that appends safely has its headers valid at once', async () => {
    const { sql, writes, close } = await database(0x200);
    await sql('PRAGMA journal_mode=persist; CREATE TABLE t(a); INSERT INTO t VALUES(1)');
    const header = writes.findLast(
      (w) => w.path.endsWith('-journal') && journalWriteOf(w.offset, w.bytes.length, firstWords(w.bytes)) === 'header',
    )!;
    expect(decodeJournalHeader(firstWords(header.bytes))).toMatchObject({ valid: true, records: null });
    expect(kindsOf(writes)).not.toContain('count');
    await close();
  });

  test('what is no header is told so', () => {
    expect(decodeJournalHeader(new Uint32Array(7))).toBeNull();
    expect(decodeJournalHeader(new Uint32Array(6))).toBeNull();
    expect(decodeJournalHeader(Uint32Array.of(0xd9d505f9, 0x20a163d7, 1, 2, 3, 512, 1000))).toBeNull();
    expect(journalWriteOf(512, 28, new Uint32Array(8))).toBe('other');
    expect(journalWriteOf(0, 28, Uint32Array.of(0, 0, 0, 0, 0, 0, 1))).toBe('other');
    expect(journalWriteOf(0, 12, new Uint32Array(3))).toBe('other');
  });
});
