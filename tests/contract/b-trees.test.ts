// Which table or index the pages of real databases belong to: the hook's results from page images,
// compared with a walk of the file.
import { afterEach, describe, expect, it } from 'vitest';
import type { BTrees } from '../../src/analysis/pages/b-trees.ts';
import { isBTreeDefinition, isBTreeKind } from '../../src/event/b-tree-definitions.ts';
import type { CaptureLevel } from '../../src/event/capture.ts';
import { Op } from '../../src/event/event.ts';
import type { RecorderOptions } from '../../src/record/recorder.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { some } from '../full.ts';
import { walk } from './helpers/b-tree-walk.ts';
import { loadSqlJs, sqlJsWasm } from './helpers/sql-js.ts';
import { storeOf } from './helpers/store.ts';
import { Traced } from './helpers/traced.ts';
import { loadWaSqlite, type Build, type Sqlite } from './helpers/wa-sqlite.ts';
import { bTreesOf, databaseFilesOf, pageAccessesOf } from '../traces/analyses.ts';

let traced: Traced | undefined;
afterEach(() => {
  traced?.restore();
  traced = undefined;
});

type Files = Map<string, { data: ArrayBuffer; size: number }>;
interface Engine {
  t: Traced;
  sqlite3: Sqlite;
  db: number;
  exec: (sql: string) => Promise<unknown[][]>;
  file: () => Uint8Array;
  files: Files;
}

async function start(
  build: Build,
  level: CaptureLevel = 1,
  layers: { sql?: boolean } = {},
  files?: Files,
  ring: RecorderOptions = {},
): Promise<Engine> {
  const t = (traced = new Traced(ring, { level, ...layers }));
  const { sqlite3, vfs } = await loadWaSqlite(build);
  const own = vfs.mapNameToFile as Files;
  for (const [path, file] of files ?? []) if (!/-(wal|journal)$/.test(path)) own.set(path, file);
  const db = await sqlite3.open_v2('app.db');
  const exec = async (sql: string): Promise<unknown[][]> => {
    const rows: unknown[][] = [];
    await sqlite3.exec(db, sql, (row) => rows.push([...row]));
    return rows;
  };
  const file = (): Uint8Array => {
    const [, found] = [...own].find(([path]) => path.endsWith('app.db'))!;
    return new Uint8Array(found.data.slice(0, found.size));
  };
  return { t, sqlite3, db, exec, file, files: own };
}

const treesOf = (store: TraceStore): { trees: BTrees; touched: Set<number> } => {
  const files = databaseFilesOf(store);
  const accesses = pageAccessesOf(store);
  const at = files.list.findIndex(
    ({ path }) => path.endsWith('app.db') || path.includes('dbfile_'),
  );
  const touched = new Set<number>();
  for (let i = 0; i < accesses.count; i++)
    if (accesses.object[i] === at) touched.add(accesses.place[i]!);
  return { trees: bTreesOf(store)[at]!, touched };
};
const rootsOf = async (exec: Engine['exec']): Promise<Map<number, string>> =>
  new Map(
    (
      (await exec('SELECT rootpage, name FROM sqlite_schema WHERE rootpage>0')) as [
        number,
        string,
      ][]
    ).map(([root, name]) => [root, name]),
  );

/**
 * Every touched page has the name that the walk gives it, or none if it is in no b-tree.
 * @returns how many have one
 */
function compare(store: TraceStore, file: Uint8Array, roots: Map<number, string>): number {
  const { trees, touched } = treesOf(store);
  const { names, pages } = walk(file, roots);
  const said = new Map([...touched].map((page) => [page, trees.list[trees.ownerOf(page)]?.name]));
  const wrong = [...said].filter(([page, name]) => page <= pages && name !== names.get(page));
  expect(wrong.map(([page, name]) => ({ page, name, is: names.get(page) }))).toEqual([]);
  expect(trees.list.map(({ name }) => name).sort()).toEqual(
    ['sqlite_schema', ...roots.values()].sort(),
  );
  expect(trees.causes).toEqual([]);
  return [...said.values()].filter((name) => name !== undefined).length;
}

const rows = (table: string, from: number, to: number): string =>
  `WITH RECURSIVE c(x) AS(VALUES(${from}) UNION ALL SELECT x+1 FROM c WHERE x<${to})
   INSERT INTO ${table} SELECT x, 'key '||((x*7919)%100003)||' of some length', zeroblob(x%97) FROM c;`;
/** Schema of several pages, deep b-trees, a WITHOUT ROWID table, overflow, and tables that come and go. */
const SCRIPT: readonly string[] = [
  ...Array.from(
    { length: 50 },
    (_, i) =>
      `CREATE TABLE "small ${i}"(a INTEGER PRIMARY KEY, b TEXT UNIQUE, c BLOB); ${rows(`"small ${i}"`, 1, 3)}`,
  ),
  'CREATE TABLE big(a INTEGER PRIMARY KEY, b TEXT, c BLOB); CREATE INDEX big_b ON big(b); CREATE INDEX big_bc ON big(b, c, a)',
  'CREATE TABLE keyed(a, b TEXT, c BLOB, PRIMARY KEY(b, a)) WITHOUT ROWID; CREATE VIEW seen AS SELECT b FROM big',
  rows('big', 1, 6000),
  rows('keyed', 1, 3000),
  'CREATE TRIGGER t AFTER DELETE ON keyed BEGIN SELECT 1; END; INSERT INTO big VALUES(-1, hex(zeroblob(20000)), zeroblob(30000))',
  'CREATE TABLE gone AS SELECT * FROM big WHERE a<3000; CREATE INDEX gone_b ON gone(b)',
  'DELETE FROM big WHERE a%3=0; DROP TABLE gone',
  rows('keyed', 5000, 7000),
  'DROP TABLE "small 7"; CREATE TABLE after(a, b, c); ANALYZE',
  rows('after', 1, 2500),
  'BEGIN; DELETE FROM big WHERE a<2500; DROP INDEX big_bc; CREATE INDEX undone ON big(c); ROLLBACK',
];
const READ_ALL =
  'PRAGMA integrity_check; SELECT count(*), sum(length(c)), max(b) FROM big NOT INDEXED';

const SETTINGS = {
  'rollback journal': 'PRAGMA cache_size=40;',
  'pages of 512 bytes': 'PRAGMA page_size=512; PRAGMA cache_size=2000;',
  'pages of 64 KiB': 'PRAGMA page_size=65536;',
  'UTF-16': "PRAGMA encoding='UTF-16'; PRAGMA cache_size=40;",
  auto_vacuum: 'PRAGMA auto_vacuum=full; PRAGMA cache_size=40;',
  WAL: 'PRAGMA locking_mode=exclusive; PRAGMA journal_mode=wal; PRAGMA cache_size=40;',
} as const;

describe.each(['journey-sync', 'journey-async', 'wa1-sync', 'wa1-async'] as const)(
  '%s',
  (build) => {
    // all settings on one build, and one on each of the others; with FULL all on all
    const settings = Object.keys(SETTINGS) as (keyof typeof SETTINGS)[];
    it.each(build === 'journey-sync' ? settings : some(settings))(
      'every page touched has its name: %s',
      async (setting) => {
        const { t, sqlite3, db, exec, file, files } = await start(build);
        await exec(SETTINGS[setting]);
        for (const sql of SCRIPT) await exec(sql);
        await exec(READ_ALL);
        const before = storeOf(t);
        const roots = await rootsOf(exec);
        if (setting === 'WAL') await exec('PRAGMA wal_checkpoint(TRUNCATE)');
        // in the WAL, and known before the checkpoint writes a page
        const named = compare(before, file(), roots);
        expect(named).toBeGreaterThan(setting === 'pages of 64 KiB' ? 80 : 250);
        await exec('VACUUM');
        await exec(READ_ALL);
        if (setting === 'WAL') await exec('PRAGMA wal_checkpoint(TRUNCATE)');
        compare(storeOf(t), file(), await rootsOf(exec));
        expect(t.counters()).toEqual({ dropped: 0, faults: 0 });
        expect(
          t.definitions
            .filter((d) => isBTreeKind(d.kind))
            .every((d) => isBTreeDefinition(d as never)),
        ).toBe(true);
        expect(JSON.stringify(t.definitions.filter((d) => isBTreeKind(d.kind)))).not.toMatch(
          /create|primary|zeroblob/i,
        );
        await sqlite3.close(db);
        t.restore();
        if (setting === 'WAL') return;
        // a second engine, which only reads
        const again = await start(build, 1, {}, files);
        await again.exec(READ_ALL);
        expect(compare(storeOf(again.t), again.file(), await rootsOf(again.exec))).toBeGreaterThan(
          40,
        );
        expect(
          again.t.all().filter((r) => r.op === Op.xWrite && again.t.kind(r) === 'main-db'),
        ).toEqual([]);
        await again.sqlite3.close(again.db);
      },
    );
  },
);

it('a database that was left with its log: recovery names what is in the log', async () => {
  const first = await start('journey-sync');
  await first.exec(
    'PRAGMA locking_mode=exclusive; PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0',
  );
  for (const sql of SCRIPT.slice(50, 54)) await first.exec(sql);
  const roots = await rootsOf(first.exec);
  const left = new Map(
    [...first.files].map(([path, f]) => [path, { ...f, data: f.data.slice(0) }]),
  );
  await first.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const file = first.file();
  first.t.restore();
  const t = (traced = new Traced());
  const { sqlite3, vfs } = await loadWaSqlite('journey-sync');
  for (const [path, f] of left) (vfs.mapNameToFile as Files).set(path, f);
  const db = await sqlite3.open_v2('app.db');
  await sqlite3.exec(db, 'PRAGMA locking_mode=exclusive; SELECT count(*) FROM big');
  expect(compare(storeOf(t), file, roots)).toBeGreaterThan(20);
});

it('gives the same names from a ring that another thread reads', async () => {
  const { t, sqlite3, db, exec, file } = await start('journey-sync', 1, {}, undefined, {
    shared: true,
    capacity: 65536,
  });
  for (const sql of SCRIPT) await exec(sql);
  await exec(READ_ALL);
  expect(compare(storeOf(t), file(), await rootsOf(exec))).toBeGreaterThan(200);
  await sqlite3.close(db);
});

it('sql.js: names compared with the bytes that it exports', async () => {
  const t = (traced = new Traced());
  const SQL = await loadSqlJs({
    instantiate: async (imports) => (await WebAssembly.instantiate(sqlJsWasm(), imports)).instance,
  });
  const db = new SQL.Database() as InstanceType<typeof SQL.Database> & { export(): Uint8Array };
  for (const sql of SCRIPT) db.run(sql);
  const values = db.exec('SELECT rootpage, name FROM sqlite_schema WHERE rootpage>0')[0]!
    .values as [number, string][];
  const store = storeOf(t);
  const file = db.export();
  expect(compare(store, file, new Map(values))).toBeGreaterThan(250);
});

it("sqlite.org's build: names match its own dbstat table", async () => {
  interface Database {
    exec(o: string | { sql: string; rowMode: 'array'; returnValue: 'resultRows' }): unknown;
    close(): void;
  }
  const t = (traced = new Traced());
  const { default: init } = (await import('@sqlite.org/sqlite-wasm')) as unknown as {
    default: () => Promise<{ oo1: { DB: new (name: string, flags: string) => Database } }>;
  };
  const db = new (await init()).oo1.DB('/app.db', 'c');
  for (const sql of SCRIPT) db.exec(sql);
  db.exec(READ_ALL);
  const store = storeOf(t);
  const rows = db.exec({
    sql: 'SELECT name, pageno, pagetype FROM dbstat',
    rowMode: 'array',
    returnValue: 'resultRows',
  }) as [string, number, string][];
  const { trees, touched } = treesOf(store);
  const inTrees = rows.filter(([, page, type]) => touched.has(page) && type !== 'overflow');
  expect(inTrees.length).toBeGreaterThan(250);
  expect(inTrees.map(([, page]) => [trees.list[trees.ownerOf(page)]?.name, page])).toEqual(
    inTrees.map(([name, page]) => [name, page]),
  );
  const others = new Set(inTrees.map(([, page]) => page));
  expect(
    [...touched].filter(
      (page) => !others.has(page) && trees.ownerOf(page) >= 0 && page <= rows.length,
    ),
  ).toEqual([]);
  db.close();
});

it('has no names at capture level 0, nor without the SQL layer', async () => {
  for (const [level, layers] of [
    [0, {}],
    [1, { sql: false }],
  ] as const) {
    const { t, exec } = await start('journey-sync', level, layers);
    await exec('CREATE TABLE secret(a INTEGER PRIMARY KEY, b); CREATE INDEX secret_b ON secret(b)');
    t.drain();
    expect(t.definitions.some((d) => isBTreeKind(d.kind))).toBe(false);
    expect(JSON.stringify(t.definitions)).not.toContain('secret');
    t.restore();
  }
});
