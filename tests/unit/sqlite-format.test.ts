// Decoders of SQLite's own bytes, tested with files that real SQLite wrote and with its PRAGMAs.
import { describe, expect, test } from 'vitest';
import { isPointerMapPage, PageType } from '../../src/sqlite/page.ts';
import { loadWaSqlite } from '../contract/helpers/wa-sqlite.ts';
import {
  decodeDatabaseHeader,
  decodeDatabaseStart,
  firstWords,
  pageTypeOf,
} from '../oracle/sqlite-pages.ts';

interface MemoryFile {
  size: number;
  data: ArrayBuffer;
}
type Row = (number | string | null)[];

/** A database in memory, and its file. */
async function database() {
  const { sqlite3, vfs } = await loadWaSqlite('journey-sync');
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
  return { sql, one, file, close: () => sqlite3.close(db) };
}

const WAL = 'PRAGMA locking_mode=exclusive; PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0;';
const fill = (rows: number, from = 0): string =>
  `WITH RECURSIVE c(x) AS (SELECT ${from + 1} UNION ALL SELECT x+1 FROM c WHERE x<${from + rows}) INSERT INTO t SELECT x,printf('%0100d',x) FROM c;`;

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

    // walk the b-trees from their roots: the pages that really have each type
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
    for (const [root] of await sql('SELECT rootpage FROM sqlite_schema WHERE rootpage>0'))
      visit(Number(root));
    expect(new Set(expected.values())).toEqual(new Set([2, 5, 10, 13]));
    const usable = pageSize - header.reservedBytes;
    const wrong: number[] = [];
    for (let page = 1; page <= header.pageCount; page++) {
      const start = (page - 1) * pageSize;
      const type = pageTypeOf(bytes.subarray(start, start + pageSize), page, pageSize);
      if (expected.has(page)) expect(type).toBe(expected.get(page));
      else if (type !== PageType.other) wrong.push(page);
      if (vacuum !== 'none' && isPointerMapPage(page, usable))
        expect(expected.has(page)).toBe(false);
    }
    expect(pageTypeOf(bytes.subarray(0, 32), 1, pageSize)).toBe(PageType.database);
    expect(pageTypeOf(bytes.subarray(pageSize, pageSize), 2, pageSize)).toBe(PageType.other);
    // a page on the freelist still looks like its former b-tree page; overflow and pointer map
    // pages don't
    expect(wrong.length).toBeLessThanOrEqual(header.freelistPages);
    await close();
  });

  test('WAL is marked in the header', async () => {
    const { sql, file, close } = await database();
    await sql(`${WAL} CREATE TABLE t(a); PRAGMA wal_checkpoint(TRUNCATE)`);
    expect(decodeDatabaseHeader(file('/test.db'))).toMatchObject({
      writeVersion: 2,
      readVersion: 2,
    });
    await close();
  });
});
