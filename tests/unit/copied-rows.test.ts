// A look into a copied database: its objects and the first rows of a table. Nothing in it runs.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { loadSqlite } from '../../src/plan/load-sqlite.ts';
import {
  LONGEST_SQL,
  MOST_OBJECTS,
  MOST_ROWS,
  readObjects,
  readRows,
} from '../../src/plan/read-rows.ts';

const wasm = {
  wasmBinary: readFileSync(createRequire(import.meta.url).resolve('wa-sqlite/dist/wa-sqlite.wasm')),
};
async function made(script: string): Promise<{ main: Blob; wal: null }> {
  const { sqlite3 } = await loadSqlite(wasm);
  const { MemoryVFS } = (await import('wa-sqlite/src/examples/MemoryVFS.js')) as unknown as {
    MemoryVFS: new () => { mapNameToFile: Map<string, { size: number; data: ArrayBuffer }> };
  };
  const vfs = new MemoryVFS();
  sqlite3.vfs_register(vfs as unknown as SQLiteVFS);
  const db = await sqlite3.open_v2('made.db', undefined, 'memory');
  await sqlite3.exec(db, script);
  const { size, data } = vfs.mapNameToFile.get('made.db')!;
  return { main: new Blob([data.slice(0, size)]), wal: null };
}

const SCRIPT = `CREATE TABLE "a ""b"""(id INTEGER PRIMARY KEY, body, twice AS (id * 2));
INSERT INTO "a ""b""" VALUES(1, 'text'), (2, NULL), (3, x'00ff'), (4, 2.5), (5, printf('%.*c', 5000, 'x'));
CREATE TABLE many(i);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300) INSERT INTO many SELECT i FROM n;
CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;
CREATE INDEX of_many ON many(i);`;

it('lists the objects; only tables with rows of their own have rows', async () => {
  const { objects: all, more } = await readObjects(wasm, await made(SCRIPT));
  expect(all.map(({ type, name, hasRows }) => [type, name, hasRows])).toEqual([
    ['table', 'a "b"', true],
    ['table', 'many', true],
    ['view', 'endless', false],
    ['index', 'of_many', false],
  ]);
  expect(all[1]).toMatchObject({ sql: 'CREATE TABLE many(i)', sqlCut: false });
  expect(more).toBe(false);
});

it('reports that a schema and a statement are longer than shown', async () => {
  const long = `CREATE TABLE t0(a DEFAULT '${'x'.repeat(LONGEST_SQL)}');`;
  const tables = [...Array(MOST_OBJECTS)].map((_, i) => `CREATE TABLE t${i + 1}(a);`);
  const { objects, more } = await readObjects(
    wasm,
    await made(`${long}BEGIN;${tables.join('')}COMMIT;`),
  );
  expect([objects.length, more]).toEqual([MOST_OBJECTS, true]);
  expect([objects[0]!.sql.length, objects[0]!.sqlCut]).toEqual([LONGEST_SQL, true]);
});

it('shows values as text, cut, and NULL and blobs as such', async () => {
  const { columns, rows, more } = await readRows(wasm, await made(SCRIPT), 'a "b"');
  expect(columns).toEqual(['id', 'body']);
  expect(rows).toEqual([
    ['1', 'text'],
    ['2', null],
    ['3', 'blob, 2 bytes'],
    ['4', '2.5'],
    ['5', 'x'.repeat(200)],
  ]);
  expect(more).toBe(false);
});

it('reads the first rows of a long table', async () => {
  const { rows, more } = await readRows(wasm, await made(SCRIPT), 'many');
  expect([rows.length, more]).toEqual([MOST_ROWS, true]);
});

it.each(['endless', "x' OR 1 --", 'sqlite_schema'])('refuses %s', async (name) => {
  await expect(readRows(wasm, await made(SCRIPT), name)).rejects.toThrow(
    /can't read the rows of this copy: there is no table/,
  );
});

it('what is no database is refused with its cause', async () => {
  const main = new Blob([new Uint8Array(8192).fill(7)]);
  await expect(readObjects(wasm, { main, wal: null })).rejects.toThrow(/not a database/);
});
