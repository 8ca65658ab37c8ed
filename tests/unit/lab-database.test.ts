/**
 * A user's database in the Lab: copied unchanged to any VFS, with its log merged, or rejected if
 * damaged.
 */
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { databaseFrom } from '../../src/lab/command/database.ts';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import { memoryVfs } from '../../src/lab/experiments/engine/open-host.ts';
import { hindrance, sampleOf } from '../../src/lab/experiments/run.ts';
import { DEFAULT_CONFIG, type Config } from '../../src/lab/experiments/model/types.ts';
import type { Sample } from '../../src/lab/experiments/model/result-types.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { starterScript, takeDatabase } from '../../src/lab/page/database-file.ts';
import { explainSql } from '../../src/lab/page/query-plan.ts';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  MAX_COPY_BYTES,
  isCopyBegun,
  isCopyPiece,
  isPageDatabases,
} from '../../src/protocol/page-copy.ts';

const around = nodeSurroundings();
const require = createRequire(import.meta.url);
const wasm = async (path: string): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await readFile(require.resolve(path)));

/**
 * A file with holes, a statistics table, and rowids that no column holds. A script of INSERTs
 * couldn't recreate it.
 */
async function shop(): Promise<Blob> {
  const init = require('sql.js') as () => Promise<{
    Database: new () => { run(sql: string): void; export(): Uint8Array<ArrayBuffer> };
  }>;
  const db = new (await init()).Database();
  db.run(`PRAGMA page_size=2048; CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT);
WITH RECURSIVE n(x) AS (VALUES(0) UNION ALL SELECT x+1 FROM n WHERE x<1999) INSERT INTO item SELECT x,'thing '||x FROM n;
CREATE INDEX item_name ON item(name); CREATE TABLE loose(body); INSERT INTO loose(rowid, body) VALUES(7,'seven'),(900,'nine hundred'); DELETE FROM loose WHERE rowid=7;
DELETE FROM item WHERE id BETWEEN 500 AND 1500; ANALYZE;`);
  return new Blob([db.export()]);
}
const sample = async (file: Blob, sql: string, config: Partial<Config> = {}): Promise<Sample> =>
  sampleOf(
    runOf(
      workloadOf('own-database', sql),
      { config },
      { mode: 'count', repeats: 1, sql, database: { name: 'shop', file } },
    ),
    around,
  );

describe('a run starts with the file', () => {
  it("free pages, statistics, and rowids are present, and the copying isn't counted", async () => {
    const file = await shop();
    const { steps, settings } = await sample(
      file,
      'SELECT count(*) FROM item; SELECT body FROM loose WHERE rowid = 900;',
    );
    expect(steps).toHaveLength(1);
    expect(steps[0]!.counters).toMatchObject({ statements: 2, rows: 2 });
    expect(steps[0]!.counters['vfs.xWrite'] ?? 0).toBe(0);
    expect(steps[0]!.counters['vfs.main-db.xRead']).toBeGreaterThan(3); // its cache is empty
    expect(Number(settings['page_count']) * Number(settings['page_size'])).toBe(file.size);
  });
  it.each([
    { vfs: 'MemoryVFS' },
    { vfs: 'MemoryAsyncVFS', build: 'asyncify' },
  ] satisfies Partial<Config>[])('the same rows on %o, and every run afresh', async (config) => {
    const file = await shop();
    const digests = [
      await sample(file, 'DELETE FROM item WHERE id < 100; SELECT count(*) FROM item;', config),
      await sample(file, 'DELETE FROM item WHERE id < 100; SELECT count(*) FROM item;', config),
    ].map(({ digest }) => digest);
    expect(digests[0]).toBe(digests[1]);
    expect(digests[0]).toBe(
      (await sample(file, 'DELETE FROM item WHERE id < 100; SELECT count(*) FROM item;')).digest,
    );
  });
  it("another page size is the copy's", async () => {
    const { settings, notes } = await sample(await shop(), 'SELECT count(*) FROM item;', {
      pageSize: 8192,
    });
    expect(settings['page_size']).toBe('8192');
    expect(notes).toEqual([]);
  });
  it("reports a VFS that can't hold it", async () => {
    const file = await shop();
    const run = (
      config: Partial<Config>,
      database = { name: 'shop', file } as { name: string; file: Blob } | null,
    ) =>
      runOf(
        workloadOf('own-database', 'SELECT 1'),
        { config },
        { mode: 'count', repeats: 1, sql: 'SELECT 1', ...(database ? { database } : {}) },
      );
    expect(hindrance(run({ vfs: 'memory' }), around)).toMatch(/no file/);
    expect(hindrance(run({}, null), around)).toMatch(/needs a database/);
    await expect(sampleOf(run({ engine: 'wa-sqlite-1.0.0' }), around)).rejects.toThrow(
      /no backup API/,
    );
  });
});

describe('a file is examined first', () => {
  it('complete: its pages, tables, and a script to start with', async () => {
    const facts = await takeDatabase(wasm, await shop(), null);
    expect(facts).toMatchObject({ pageSize: 2048 });
    expect(facts.pages * 2048).toBe(facts.file.size);
    expect(facts.tables).toContain('item');
    expect(starterScript(['a"b'])).toBe('SELECT count(*) FROM "a""b";\n');
    const plan = await explainSql(wasm, facts.file, "SELECT * FROM item WHERE name = 'thing 7'");
    expect(plan.map(({ detail }) => detail)).toEqual([
      'SEARCH item USING COVERING INDEX item_name (name=?)',
    ]);
  });
  it("with its write-ahead log, which was not checkpointed: committed frames are included, a truncated one isn't", async () => {
    const { sqlite3, module } = await around.engines.open(
      { engine: 'wa-sqlite-2.0.6', build: 'sync' },
      'none',
    );
    const { vfs } = (await memoryVfs(DEFAULT_CONFIG, module))!;
    (sqlite3 as unknown as { vfs_register(vfs: object, asDefault: boolean): number }).vfs_register(
      vfs,
      true,
    );
    const db = await sqlite3.open_v2('live.db');
    await sqlite3.exec(
      db,
      'PRAGMA locking_mode=exclusive; PRAGMA journal_mode=wal; CREATE TABLE t(a); INSERT INTO t VALUES(1),(2);',
    );
    const files = vfs['mapNameToFile'] as Map<string, { data: ArrayBuffer; size: number }>;
    const blob = (name: string, size?: number): Blob =>
      new Blob([files.get(name)!.data.slice(0, size ?? files.get(name)!.size)]);
    const [main, wal] = [blob('/live.db'), blob('/live.db-wal')];
    await sqlite3.exec(db, 'CREATE TABLE late(b)');
    const torn = blob('/live.db-wal', wal.size + 1000);
    await sqlite3.close(db);
    const rows = async (file: Blob): Promise<Sample> => sample(file, 'SELECT count(*) FROM t;');
    for (const log of [wal, torn]) {
      const { file, tables } = await takeDatabase(wasm, main, log);
      expect(tables).toEqual(['t']);
      expect((await rows(file)).digest).toMatch(/\/1$/);
    }
  });
  it("the command reports which file is damaged, and the first fault that SQLite's own check finds", async () => {
    const folder = await mkdtemp(join(tmpdir(), 'vfscope-database-'));
    try {
      const path = join(folder, 'shop.db');
      const bytes = new Uint8Array(await (await shop()).arrayBuffer());
      const changed = (at: number, ...values: number[]): Uint8Array => {
        const copy = bytes.slice();
        copy.set(values, at);
        return copy;
      };
      const refused = async (content: Uint8Array): Promise<string> => {
        await writeFile(path, content);
        return databaseFrom(path).then(String, (e: Error) => e.message);
      };
      const advice = `. Use a backup, or recover what is left: sqlite3 ${path} .recover | sqlite3 recovered.db`;
      const damaged = (said: string): string =>
        `${path} is damaged. SQLite reports: ${said}${advice}`;
      expect(await refused(bytes.slice(0, 60))).toBe(damaged('database disk image is malformed'));
      expect(await refused(bytes.slice(0, bytes.length / 2))).toBe(
        damaged('database disk image is malformed'),
      );
      // an invalid page size
      expect(await refused(changed(16, 0x12, 0x34))).toBe(damaged('file is not a database'));
      expect(await refused(changed(16, 0x02, 0x00))).toMatch(
        /is damaged\. SQLite reports: malformed database schema/,
      ); // of 512 bytes
      const torn = bytes.slice();
      torn.fill(0x5a, 2048 * 6, 2048 * 9);
      expect(await refused(torn)).toBe(damaged('Freelist: freelist leaf count too big on page 8'));
      expect(await refused(new Uint8Array(8192).fill(7))).toMatch(
        /doesn't begin with "SQLite format 3"/,
      );
      await writeFile(path, changed(18, 2, 2)); // in WAL mode, with its log missing
      const { file } = await databaseFrom(path);
      expect(file.size).toBe(bytes.length);
      expect((await sample(file, 'SELECT count(*) FROM loose;')).steps[0]!.counters).toMatchObject({
        rows: 1,
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
  it("a file that is torn, or isn't a database, is rejected with the cause", async () => {
    await expect(takeDatabase(wasm, new Blob(['<!doctype html>']), null)).rejects.toThrow(
      /isn't a SQLite database/,
    );
    const bytes = new Uint8Array(await (await shop()).arrayBuffer());
    bytes.fill(0x5a, 2048 * 6, 2048 * 9); // pages of another state
    await expect(takeDatabase(wasm, new Blob([bytes]), null)).rejects.toThrow(/damaged|malformed/);
  });
});

describe("the page's answers are validated", () => {
  const database = { store: 'opfs', name: 'a', at: '/a', size: 4096, cause: '' };
  it.each([
    [{ origin: 'https://a', databases: [database], failures: [] }, true],
    [{ origin: 'https://a', databases: [{ ...database, store: 'file' }], failures: [] }, false],
    [{ origin: 'https://a', databases: [{ ...database, size: -1 }], failures: [] }, false],
    [
      { origin: 'https://a', databases: Array.from({ length: 201 }, () => database), failures: [] },
      false,
    ],
    [
      { origin: 'https://a', databases: [{ ...database, name: 'x'.repeat(2000) }], failures: [] },
      false,
    ],
    [null, false],
  ])('%#', (answer, good) => expect(isPageDatabases(answer)).toBe(good));
  it('a copy has plausible sizes, and a piece is text of its size', () => {
    expect([
      isCopyBegun({ main: 10, wal: null }),
      isCopyBegun({ main: MAX_COPY_BYTES + 1, wal: null }),
      isCopyBegun({ main: 10 }),
    ]).toEqual([true, false, false]);
    expect([
      isCopyPiece('QUJD'),
      isCopyPiece('A'.repeat(6 << 20)),
      isCopyPiece(new Uint8Array(3)),
    ]).toEqual([true, false, false]);
  });
});
