// Which table or index pages belong to: pages decoded, definitions bounded, and what analyses make of them.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bTreesOf, bTreeTotals, ownersOf, type BTrees } from '../../src/trace/analysis/b-trees.ts';
import { databaseFilesOf } from '../../src/trace/analysis/database-files.ts';
import { pageAccessesOf } from '../../src/trace/analysis/page-accesses.ts';
import { pagesOf } from '../../src/trace/analysis/pages.ts';
import { privacyReport, privacyText } from '../../src/trace/analysis/privacy-report.ts';
import { sanitizeStore } from '../../src/trace/analysis/sanitize.ts';
import { isBTreeDefinition, MOST_SAID, SAID_COST, type BTreeDefinition } from '../../src/trace/b-tree-definitions.ts';
import type { Definition } from '../../src/trace/event.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { Recorder } from '../../src/trace/recorder.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { Memo, type QueryContext } from '../../src/viewer/worker/queries/context.ts';
import { ENGINE_BLOCK_BYTES } from '../../src/trace/ring-layout.ts';
import { childrenOf, schemaRowsOf } from '../../src/trace/sqlite-format/b-tree.ts';
import { bTreeReader } from '../../src/vfs-instrumented/interpose/b-tree-reader.ts';
import { EngineMemory } from '../../src/vfs-instrumented/interpose/io-methods.ts';
import { walk } from '../contract/helpers/b-tree-walk.ts';
import { loadWaSqlite } from '../contract/helpers/wa-sqlite.ts';
import { bTreeCause, partOf, treeRows } from '../../src/viewer/views/files/b-tree-words.ts';
import { pageQueries, placesKey } from '../../src/viewer/worker/queries/pages.ts';
import { tablesOf } from '../../src/viewer/worker/sql/tables.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

import { isThreadMessage } from '../../src/protocol/messages.ts';

const SIZE = 1024;
const children = (bytes: Uint8Array, page: number, size = SIZE): number[] | null => childrenOf(bytes, 0, page, size);

/** An interior page of a table with these children. */
function interior(kids: readonly number[], page = 2, size = SIZE): Uint8Array {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  const at = page === 1 ? 100 : 0;
  bytes[at] = 5;
  view.setUint16(at + 3, kids.length - 1);
  view.setUint16(at + 5, size - 5 * (kids.length - 1));
  view.setUint32(at + 8, kids.at(-1)!);
  kids.slice(0, -1).forEach((kid, i) => {
    view.setUint16(at + 12 + 2 * i, size - 5 * (i + 1));
    view.setUint32(size - 5 * (i + 1), kid);
  });
  return bytes;
}

/** Bytes of a database that SQLite made, with what its own SELECT says of the schema. */
async function real(
  setup: string,
): Promise<{ file: Uint8Array; rows: [type: string, name: string, table: string, root: number][]; size: number }> {
  const { sqlite3, vfs } = await loadWaSqlite('journey-sync');
  const db = await sqlite3.open_v2('a.db');
  const rows: [string, string, string, number][] = [];
  await sqlite3.exec(db, setup);
  await sqlite3.exec(db, 'SELECT type, name, tbl_name, rootpage FROM sqlite_schema', (row) => rows.push([...row] as (typeof rows)[number]));
  await sqlite3.close(db);
  const [, found] = [...(vfs.mapNameToFile as Map<string, { data: ArrayBuffer; size: number }>)].find(([path]) => path.endsWith('a.db'))!;
  const file = new Uint8Array(found.data.slice(0, found.size));
  return { file, rows, size: walk(file, new Map()).pageSize };
}
const SCHEMA =
  Array.from(
    { length: 30 },
    (_, i) => `CREATE TABLE "täble ${i}"(a INTEGER PRIMARY KEY, b TEXT, c TEXT UNIQUE); CREATE INDEX "i${i}" ON "täble ${i}"(b);`,
  ).join('') +
  'CREATE VIEW v AS SELECT 1; CREATE VIRTUAL TABLE f USING fts5(x);' +
  "WITH RECURSIVE c(x) AS(VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<4000) INSERT INTO \"täble 3\" SELECT x, 'text '||x, 'other '||x FROM c;";

describe('pages as SQLite writes them', () => {
  test.each([
    ['UTF-8', 1024, 1],
    ['UTF-16le', 1024, 2],
    ['UTF-16be', 65536, 3],
  ] as const)('%s, %i bytes: children and names', async (encoding, pageSize, code) => {
    const { file, rows, size } = await real(`PRAGMA encoding='${encoding}'; PRAGMA page_size=${pageSize}; ${SCHEMA}`);
    expect(size).toBe(pageSize);
    const named = rows.filter(([, , , root]) => root > 0);
    const { names } = walk(file, new Map(named.map(([, name, , root]) => [root, name])));
    const seen = new Map<number, number>();
    const found: [string, string, number][] = [];
    for (const [page, name] of names) {
      const image = file.subarray((page - 1) * size, page * size);
      for (const child of children(image, page, size) ?? []) seen.set(child, page);
      const isLeaf = image[page === 1 ? 100 : 0] === 13;
      const schema = isLeaf ? schemaRowsOf(image, 0, page, size, size, code) : null;
      if (name !== 'sqlite_schema') expect(!schema || schema.roots.length === 0).toBe(true);
      else if (isLeaf) schema!.roots.forEach((root, i) => found.push([schema!.names[i]!, schema!.tables[i]!, root]));
    }
    const roots = new Set([1, ...named.map(([, , , root]) => root)]);
    // every page but the roots has one parent, of the same b-tree
    expect([...seen.keys()].sort((a, b) => a - b)).toEqual([...names.keys()].filter((page) => !roots.has(page)).sort((a, b) => a - b));
    for (const [child, page] of seen) expect(names.get(child)).toBe(names.get(page));
    const expected = named.map(([type, name, table, root]): [string, string, number] => [name, type === 'index' ? table : '', root]);
    expect(found.sort()).toEqual(expected.sort());
  });

  test('a page that does not make sense says nothing', () => {
    const sound = interior([7, 8, 9]);
    expect(children(sound, 2)).toEqual([7, 8, 9]);
    expect(children(interior([7, 8, 9], 1), 1)).toEqual([7, 8, 9]);
    expect(children(interior([7], 1), 1)).toEqual([7]);
    const broken = (change: (b: Uint8Array) => void): Uint8Array => {
      const bytes = sound.slice();
      change(bytes);
      return bytes;
    };
    for (const bytes of [
      interior([7]), // only page 1 is without cells
      interior([7, 2, 9]), // itself
      interior([7, 1, 9]),
      interior([7, 0, 9]),
      broken((b) => (b[0] = 13)),
      broken((b) => (b[3] = 0xff)), // more cells than fit
      broken((b) => (b[5] = 0x05)), // content behind the end
      broken((b) => (b[12] = 0)), // a cell before the content
      broken((b) => b.set([0x03, 0xff], 12)), // a cell over the end
      sound.subarray(0, SIZE - 1),
      new Uint8Array(SIZE),
    ])
      expect(children(bytes, 2)).toBeNull();
  });

  test('random and damaged bytes never throw, and are never taken for more than a page holds', async () => {
    const { file, size } = await real(`PRAGMA page_size=1024; ${SCHEMA}`);
    const pages = file.length / size;
    const check = (bytes: Uint8Array, page: number): void => {
      expect(childrenOf(bytes, 0, page, bytes.length)?.length ?? 0).toBeLessThanOrEqual(bytes.length / 2);
      for (const encoding of [0, 1, 2, 3, 9]) {
        const rows = schemaRowsOf(bytes, 0, page, bytes.length, bytes.length - (encoding === 9 ? 255 : 0), encoding);
        if (!rows) continue;
        expect(rows.roots.length).toBeLessThanOrEqual(bytes.length / 2);
        expect([rows.names.length, rows.tables.length]).toEqual([rows.roots.length, rows.roots.length]);
        expect(rows.names.every((name) => name.length <= 510)).toBe(true);
      }
    };
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 512, maxLength: 512 }),
        fc.constantFrom(2, 5, 10, 13),
        fc.constantFrom(1, 2),
        (bytes, type, page) => {
          bytes[page === 1 ? 100 : 0] = type;
          check(bytes, page);
        },
      ),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: pages }),
        fc.array(fc.tuple(fc.nat(size - 1), fc.nat(255)), { maxLength: 12 }),
        (page, damage) => {
          const bytes = file.slice((page - 1) * size, page * size);
          for (const [at, value] of damage) bytes[at] = value;
          check(bytes, page);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('the reader in the hook', () => {
  const AT = 4096;
  /** Of database 7, whose WAL is 8. */
  function reader() {
    const recorder = new Recorder({ capacity: 64, maxEngines: 1 });
    const memory = new WebAssembly.Memory({ initial: 2 });
    const block = recorder.allocateEngineBlock(ENGINE_BLOCK_BYTES);
    const image = bTreeReader(recorder, new EngineMemory(memory), (id) => (id === 8 ? 7 : id), block);
    const put = (bytes: Uint8Array): void => new Uint8Array(memory.buffer).set(bytes, AT);
    const said = (): BTreeDefinition[] => recorder.takeDefinitions() as BTreeDefinition[];
    const see = (page: number, bytes: Uint8Array, write = false): BTreeDefinition[] => {
      put(bytes);
      image(7, 0, AT, bytes.length, write ? 1 : 0, (page - 1) * bytes.length);
      return said();
    };
    const header = (frame: number, page: number): void => image(8, page, AT, 24, 1, 32 + frame * (24 + SIZE));
    const body = (frame: number, bytes: Uint8Array, write = true): BTreeDefinition[] => {
      put(bytes);
      image(8, 0, AT, SIZE, write ? 1 : 0, 32 + frame * (24 + SIZE) + 24);
      return said();
    };
    const faults = (): number => recorder.faults;
    return { see, header, body, faults };
  }
  const database = (kids: readonly number[], cookie = 1): Uint8Array => {
    const bytes = interior(kids, 1);
    bytes.set(new TextEncoder().encode('SQLite format 3\0'));
    new DataView(bytes.buffer).setUint16(16, SIZE);
    new DataView(bytes.buffer).setUint32(40, cookie);
    return bytes;
  };

  test('says a page once, and again when its children have changed', () => {
    const { see, faults } = reader();
    expect(see(3, interior([10, 11, 12], 3))).toEqual([{ kind: 'b-tree-pages', id: 1, file: 7, at: 0, page: 3, children: [10, 11, 12] }]);
    expect(see(3, interior([10, 11, 12], 3))).toEqual([]);
    expect(see(3, interior([10, 11, 12], 3), true)).toEqual([]);
    expect(see(3, interior([10, 11, 13, 12], 3))).toMatchObject([{ children: [10, 11, 13, 12] }]); // another thread wrote it
    expect(see(3, interior([10, 14, 13, 12], 3), true)).toMatchObject([{ children: [10, 14, 13, 12] }]); // its first words are the same
    expect(see(4, new Uint8Array(SIZE).fill(5))).toEqual([]);
    expect(faults()).toBe(0);
  });

  test('a page of a log, also when its image is written alone', () => {
    const { see, header, body } = reader();
    see(1, database([3, 4]));
    header(5, 9);
    expect(body(5, interior([20, 21], 9))).toMatchObject([{ file: 7, page: 9, children: [20, 21] }]);
    header(6, 10);
    expect(body(5, interior([20, 22, 21], 9))).toMatchObject([{ page: 9, children: [20, 22, 21] }]);
    expect(body(99, interior([5, 6], 9))).toEqual([]); // of a frame whose header nobody saw
    header(5, 3); // a leaf of the schema, then another page in its place
    expect(body(5, interior([30, 31], 3))).toMatchObject([{ page: 3, children: [30, 31] }]);
  });

  test('of a page that left the schema no row is looked at', () => {
    const { see } = reader();
    const leaf = new Uint8Array(SIZE);
    const row = [4, ...[23, 15, 15, 1], ...new TextEncoder().encode('tableaa'), 7];
    leaf.set([13, 0, 0, 0, 1, 0x03, 0xe0]);
    leaf.set([0x03, 0xe0], 8);
    leaf.set([row.length, 1, row.length - 8 + 1 - 1, ...row.slice(1)], 0x3e0);
    leaf[0x3e2] = 5;
    see(1, database([3, 4]));
    expect(see(3, leaf)).toMatchObject([{ kind: 'b-tree-names', page: 3, roots: [7], names: ['a'], tables: [''] }]);
    see(1, database([5, 4], 2), true);
    expect(see(3, leaf, true)).toEqual([]);
  });

  test('is bounded, and says so once', () => {
    const { see } = reader();
    let last: BTreeDefinition[] = [];
    let count = 0;
    for (let page = 10; last[0]?.kind !== 'b-tree-end' && count < 1e5; page++, count++)
      last = see(page, interior([100_000 + page, 200_000 + page], page));
    expect(count).toBe(Math.ceil(MOST_SAID / (SAID_COST + 2)));
    expect(see(9, interior([4, 5], 9))).toEqual([]);
  });
});

const PAGE = 4096;
function contextOf(store: TraceStore): QueryContext {
  const memo = new Memo(store);
  return {
    ...{ store, shared: memo.shared(1), compared: { other: null, previous: null } },
    pyramid: () => expect.fail('no lane is asked for'),
    timeline: () => expect.fail('no lane is asked for'),
    memo: (key, make) => memo.get(1, key, make),
  };
}
describe('pages to b-trees', () => {
  const treesOf = (t: ThreadBuilder): BTrees => {
    const files = databaseFilesOf(t.store);
    return bTreesOf(t.store, files, pageAccessesOf(t.store, files))[0]!;
  };
  const nameOf = (trees: BTrees, page: number): string | undefined => trees.list[trees.ownerOf(page)]?.name;
  function app(url?: string, store = newStore()) {
    const t = new ThreadBuilder(store, url === undefined ? {} : { url });
    const file = t.file('app.db');
    let id = 1000;
    let at = 0;
    const touch = (op: 'xRead' | 'xWrite', page: number, aux2: number): void =>
      void (at = t.call(op, { object: file, offset: (page - 1) * PAGE, length: PAGE, aux2 }) + 1);
    const pages = (page: number, children: number[]): void => t.say({ kind: 'b-tree-pages', id: id++, file, at, page, children });
    const names = (page: number, rows: readonly (readonly [number, string, string])[]): void =>
      t.say({
        kind: 'b-tree-names',
        id: id++,
        file,
        at,
        page,
        roots: rows.map((r) => r[0]),
        names: rows.map((r) => r[1]),
        tables: rows.map((r) => r[2]),
      });
    const end = (): void => t.say({ kind: 'b-tree-end', id: id++, file, at, page: 2 });
    return { t, file, touch, pages, names, end };
  }
  const SCHEMA_ROWS = [
    [2, 'orders', ''],
    [3, 'orders_by_date', 'orders'],
  ] as const;

  test('from the root down, and totals by b-tree', () => {
    const { t, touch, pages, names } = app();
    for (const [page, type] of [
      [1, 13],
      [2, 5],
      [3, 2],
      [10, 13],
      [11, 13],
      [12, 2],
      [20, 10],
      [10, 13],
      [99, 0],
    ] as const)
      touch('xRead', page, type);
    touch('xWrite', 20, 10);
    names(1, SCHEMA_ROWS);
    pages(2, [10, 11]);
    pages(12, [20, 21]);
    pages(3, [12, 13]);
    t.send();
    const trees = treesOf(t);
    expect(trees.list).toEqual([
      { root: 1, name: 'sqlite_schema', kind: 'table', table: 'sqlite_schema' },
      { root: 2, name: 'orders', kind: 'table', table: 'orders' },
      { root: 3, name: 'orders_by_date', kind: 'index', table: 'orders' },
    ]);
    expect([1, 2, 3, 10, 12, 20, 21, 99].map((page) => nameOf(trees, page))).toEqual([
      ...['sqlite_schema', 'orders', 'orders_by_date', 'orders', 'orders_by_date', 'orders_by_date', 'orders_by_date', undefined],
    ]);
    const [{ places } = { places: undefined! }] = pagesOf(t.store);
    const owners = ownersOf(trees, places);
    expect([...owners]).toEqual([0, 1, 2, 1, 1, 2, 2, -1]);
    const totals = bTreeTotals(places, owners, trees.list.length);
    expect([...totals.pages]).toEqual([1, 3, 3, 1]);
    expect([...totals.reads]).toEqual([1, 4, 3, 1]);
    expect([...totals.rereads]).toEqual([0, 1, 0, 0]);
    expect([...totals.writes]).toEqual([0, 0, 1, 0]);
    expect([...totals.readBytes]).toEqual([PAGE, 4 * PAGE, 3 * PAGE, PAGE]);
  });

  test('the views and SQL call pages so', () => {
    const { t, touch, pages, names } = app();
    for (const [page, type] of [
      [1, 13],
      [2, 5],
      [3, 2],
      [10, 13],
      [12, 2],
      [20, 10],
      [99, 0],
    ] as const)
      touch('xRead', page, type);
    names(1, SCHEMA_ROWS);
    pages(2, [10]);
    pages(3, [12]);
    pages(12, [20, 21]);
    t.send();
    const context = contextOf(t.store);
    const key = placesKey({ path: 'app.db', kind: 'main-db', vfs: 'test' }, 'pages');
    const table = pageQueries.pageTable(context, { key, fromUs: null, toUs: null })!;
    const said = (from: number, to = from + 1): string => partOf(table, from, to);
    expect([1, 2, 10, 12, 20, 99, 50].map((page) => said(page))).toEqual([
      ...['root of table sqlite_schema', 'root of table orders', 'leaf of table orders', 'interior page of index orders_by_date'],
      ...['leaf of index orders_by_date', '', ''],
    ]);
    expect([said(12, 21), said(2, 21), said(40, 120)]).toEqual(['index orders_by_date', '2 tables and indexes', '']);
    expect(bTreeCause(table.trees!)).toMatch(/^Table or index n\/a for 1 of 7 pages: /);
    expect(treeRows(table.trees!)).toEqual([0, 1, 2, 3]);
    const sql = tablesOf(() => context).find(({ name }) => name === 'pages')!;
    const column = (name: string): ((row: number) => unknown) => sql.current().columns[sql.columns.findIndex((c) => c.name === name)]!;
    expect([0, 1, 4, 6].map((row) => [column('page')(row), column('b_tree')(row), column('b_tree_table')(row)])).toEqual([
      [1, 'sqlite_schema', 'sqlite_schema'],
      [2, 'orders', 'orders'],
      [12, 'orders_by_date', 'orders'],
      [99, null, null],
    ]);
  });

  test('what was said last holds: moved, removed, dropped, and a page that is interior no more', () => {
    const { t, touch, pages, names } = app();
    touch('xRead', 1, 13);
    names(1, SCHEMA_ROWS);
    pages(2, [10, 11, 12]);
    pages(3, [20, 21]);
    touch('xWrite', 2, 5);
    pages(2, [10, 11]);
    pages(3, [20, 21, 12, 11]); // 11 is still claimed by page 2, which was seen before
    pages(20, [30, 31]);
    touch('xWrite', 20, 10); // a leaf now: what it led to is gone
    t.send();
    let trees = treesOf(t);
    expect([10, 11, 12, 20, 30].map((page) => nameOf(trees, page))).toEqual([
      'orders',
      ...Array<string>(3).fill('orders_by_date'),
      undefined,
    ]);
    touch('xWrite', 20, 2); // rolled back
    touch('xRead', 2, 5); // and page 2 still has 11: seen later than page 3
    t.send();
    trees = treesOf(t);
    expect([11, 30].map((page) => nameOf(trees, page))).toEqual(['orders', 'orders_by_date']);
    names(1, [SCHEMA_ROWS[1]]);
    t.send();
    trees = treesOf(t);
    expect([2, 10, 20].map((page) => nameOf(trees, page))).toEqual([undefined, undefined, 'orders_by_date']);
  });

  test('names on a page that is no leaf of the schema any more do not count; circles end', () => {
    const { t, touch, pages, names } = app();
    touch('xRead', 1, 5);
    pages(1, [4, 5]);
    names(4, SCHEMA_ROWS);
    names(5, [[7, 'other', '']]);
    pages(2, [10]);
    pages(10, [11]);
    pages(11, [10, 2]);
    t.send();
    expect(treesOf(t).list.map(({ name }) => name)).toEqual(['sqlite_schema', 'orders', 'orders_by_date', 'other']);
    expect([4, 10, 11].map((page) => nameOf(treesOf(t), page))).toEqual(['sqlite_schema', 'orders', 'orders']);
    pages(1, [4]);
    t.send();
    expect(treesOf(t).list.map(({ name }) => name)).toEqual(['sqlite_schema', 'orders', 'orders_by_date']);
  });

  test('why none is known', () => {
    const store = newStore();
    for (const origin of ['https://a.example/w.js', 'https://b.example/w.js']) {
      const { t, touch, names } = app(origin, store);
      touch('xRead', 1, 13);
      names(1, SCHEMA_ROWS);
      t.send();
    }
    const files = databaseFilesOf(store);
    expect(bTreesOf(store, files, pageAccessesOf(store, files))[0]).toMatchObject({ list: [], causes: ['several origins'] });
    const level = (capture: object): BTrees => {
      const { t, touch } = app();
      t.say({
        ...{
          kind: 'environment',
          id: 0,
          url: '',
          threadKind: 'worker',
          crossOriginIsolated: false,
          clockStepUs: 5,
          userAgent: '',
          hidden: null,
        },
        capture: { capture: 1, layers: ['sql', 'vfs', 'web'], buffer: 1024, stacks: false, ...capture } as never,
      });
      touch('xRead', 1, 13);
      t.send();
      return treesOf(t);
    };
    expect(level({}).causes).toEqual(['not seen']);
    expect(level({ capture: 0 }).causes).toEqual(['not captured']);
    expect(level({ layers: ['vfs'] }).causes).toEqual(['not captured']);
    const opaque = app();
    opaque.touch('xRead', 1, 0);
    opaque.t.send();
    expect(treesOf(opaque.t)).toMatchObject({ list: [], causes: ['opaque'] });
  });

  test('what is written after the hook stopped to follow belongs to none', () => {
    const { t, touch, pages, names, end } = app();
    touch('xRead', 1, 13);
    names(1, SCHEMA_ROWS);
    pages(2, [10, 11]);
    end();
    touch('xWrite', 1, 13);
    touch('xWrite', 10, 13);
    touch('xRead', 11, 13);
    t.send();
    const trees = treesOf(t);
    expect([1, 2, 10, 11].map((page) => nameOf(trees, page))).toEqual(['sqlite_schema', 'orders', undefined, 'orders']);
    expect(trees.causes).toEqual(['changes']);
  });

  test('survive a file; a sanitised copy calls them as its statements do', async () => {
    const { t, touch, pages, names } = app();
    t.define({ kind: 'sql', text: 'SELECT * FROM orders WHERE "Odd Name"=?' });
    touch('xRead', 1, 13);
    names(1, [...SCHEMA_ROWS, [4, 'Odd Name', ''], [5, 'sqlite_autoindex_orders_1', 'orders'], [6, 'sqlite_stat1', '']]);
    pages(2, [10, 11]);
    t.send();
    const { store, warnings } = await readTrace(new Uint8Array(await (await saveTrace(t.store)).arrayBuffer()));
    expect(warnings).toEqual([]);
    expect(store.threads[0]!.said).toEqual(t.thread.said);
    expect(privacyReport(store)).toMatchObject({ treeNames: 5, level: 1 });
    expect(privacyText(privacyReport(store))).toContain('5 names of tables and indexes');
    const clean = sanitizeStore(store);
    const said = clean.threads[0]!.said;
    const sql = said.find((d) => d.kind === 'sql') as Extract<Definition, { kind: 'sql' }>;
    const [, table, odd] = /FROM (\w+) WHERE (\w+)=/.exec(sql.text)!;
    const trees = said.find((d) => d.kind === 'b-tree-names') as Extract<Definition, { kind: 'b-tree-names' }>;
    expect(trees.names).toEqual([table, expect.stringMatching(/^n\d+$/), odd, `sqlite_autoindex_${table}_1`, 'sqlite_stat1']);
    expect(trees.tables).toEqual(['', table, '', table, '']);
    expect(JSON.stringify(said)).not.toMatch(/orders|odd name/i);
    expect(said.find((d) => d.kind === 'b-tree-pages')).toEqual(t.thread.said.find((d) => d.kind === 'b-tree-pages'));
  });

  test('forged definitions are refused at the door', () => {
    const good = { kind: 'b-tree-names', id: 1, file: 2, at: 3, page: 4, roots: [5], names: ['a'], tables: [''] };
    const pages = { kind: 'b-tree-pages', id: 1, file: 2, at: 3, page: 4, children: [5] };
    const batch = (d: unknown): boolean =>
      isThreadMessage({
        k: 'batch',
        batch: { thread: 'a', first: 0, count: 0, timeOrigin: 1, dropped: 0, faults: 0, definitions: [d], records: new ArrayBuffer(0) },
      });
    expect([good, pages].every((d) => isBTreeDefinition(d) && batch(d))).toBe(true);
    for (const bad of [
      ...[
        { ...good, page: 0 },
        { ...good, names: [] },
        { ...good, names: [7] },
        { ...good, names: ['x'.repeat(513)] },
      ],
      ...[
        { ...good, roots: [-1] },
        { ...good, roots: ['5'] },
        { ...good, tables: ['', ''] },
        { ...good, at: 1.5 },
      ],
      ...[
        { ...pages, children: [0] },
        { ...pages, children: Array(10_001).fill(5) },
        { ...pages, children: null },
        { ...pages, file: 2 ** 32 },
      ],
      ...[
        { ...pages, kind: 'b-tree-end', page: 0 },
        { kind: 'b-tree-end', id: 1, file: 2, at: 3 },
      ],
    ])
      expect([isBTreeDefinition(bad), batch(bad)]).toEqual([false, false]);
  });
});
