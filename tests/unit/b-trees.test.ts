// Which table or index pages belong to: what analyses, views, and copies derive from the hook's
// definitions.
import { describe, expect, test } from 'vitest';
import { isThreadMessage } from '../../src/protocol/messages.ts';
import { bTreeTotals, ownersOf, type BTrees } from '../../src/analysis/pages/b-trees.ts';
import { privacyReport, privacyText } from '../../src/analysis/privacy/privacy-report.ts';
import { sanitizeStore } from '../../src/analysis/privacy/sanitize.ts';
import { isBTreeDefinition } from '../../src/event/b-tree-definitions.ts';
import type { Definition } from '../../src/event/definitions.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { bTreeCause, partOf, treeRows } from '../../src/viewer/ui/views/files/b-tree-columns.ts';
import { Memo, type QueryContext } from '../../src/viewer/session/queries/context.ts';
import { pageQueries, placesKey } from '../../src/viewer/session/queries/pages.ts';
import { tablesOf } from '../../src/viewer/session/sql/tables.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { bTreesOf, pagesOf } from '../traces/analyses.ts';

const PAGE = 4096;
function contextOf(store: TraceStore): QueryContext {
  const memo = new Memo(store);
  return {
    ...{ store, facts: memo.facts(1), compared: { other: null, previous: null } },
    callLanes: () => expect.fail('no lane is asked for'),
    timeline: () => expect.fail('no lane is asked for'),
    memo: (key, make) => memo.get(1, key, make),
    rest: () => Promise.resolve(),
  };
}
describe('from pages to b-trees', () => {
  const treesOf = (t: ThreadBuilder): BTrees => {
    return bTreesOf(t.store)[0]!;
  };
  const nameOf = (trees: BTrees, page: number): string | undefined =>
    trees.list[trees.ownerOf(page)]?.name;
  function app(url?: string, store = newStore()) {
    const t = new ThreadBuilder(store, url === undefined ? {} : { url });
    const file = t.file('app.db');
    let id = 1000;
    let at = 0;
    const touch = (op: 'xRead' | 'xWrite', page: number, aux2: number): void =>
      void (at = t.call(op, { object: file, offset: (page - 1) * PAGE, length: PAGE, aux2 }) + 1);
    const pages = (page: number, children: number[]): void =>
      t.say({ kind: 'b-tree-pages', id: id++, file, at, page, children });
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

  test('from the root down, with totals by b-tree', () => {
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
      ...[
        'sqlite_schema',
        'orders',
        'orders_by_date',
        'orders',
        'orders_by_date',
        'orders_by_date',
        'orders_by_date',
        undefined,
      ],
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

  test('the views and SQL name pages this way', () => {
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
      ...[
        'root of table sqlite_schema',
        'root of table orders',
        'leaf of table orders',
        'interior page of index orders_by_date',
      ],
      ...['leaf of index orders_by_date', '', ''],
    ]);
    expect([said(12, 21), said(2, 21), said(40, 120)]).toEqual([
      'index orders_by_date',
      '2 tables and indexes',
      '',
    ]);
    expect(bTreeCause(table.trees!)).toMatch(/^Table or index n\/a for 1 of 7 pages: /);
    expect(treeRows(table.trees!)).toEqual([0, 1, 2, 3]);
    const sql = tablesOf(() => context).find(({ name }) => name === 'pages')!;
    const column =
      (name: string): ((row: number) => unknown) =>
      (row) =>
        sql.value(
          sql.current(),
          row,
          sql.columns.findIndex((c) => c.name === name),
        );
    expect(
      [0, 1, 4, 6].map((row) => [
        column('page')(row),
        column('b_tree')(row),
        column('b_tree_table')(row),
      ]),
    ).toEqual([
      [1, 'sqlite_schema', 'sqlite_schema'],
      [2, 'orders', 'orders'],
      [12, 'orders_by_date', 'orders'],
      [99, null, null],
    ]);
  });

  test("the newest report wins: moved, removed, and dropped pages, and a page that isn't interior any more", () => {
    const { t, touch, pages, names } = app();
    touch('xRead', 1, 13);
    names(1, SCHEMA_ROWS);
    pages(2, [10, 11, 12]);
    pages(3, [20, 21]);
    touch('xWrite', 2, 5);
    pages(2, [10, 11]);
    pages(3, [20, 21, 12, 11]); // page 2, seen before, still claims 11
    pages(20, [30, 31]);
    touch('xWrite', 20, 10); // a leaf now: its former children are gone
    t.send();
    let trees = treesOf(t);
    expect([10, 11, 12, 20, 30].map((page) => nameOf(trees, page))).toEqual([
      'orders',
      ...Array<string>(3).fill('orders_by_date'),
      undefined,
    ]);
    touch('xWrite', 20, 2); // rolled back
    touch('xRead', 2, 5); // and page 2, seen after page 3, still has 11
    t.send();
    trees = treesOf(t);
    expect([11, 30].map((page) => nameOf(trees, page))).toEqual(['orders', 'orders_by_date']);
    names(1, [SCHEMA_ROWS[1]]);
    t.send();
    trees = treesOf(t);
    expect([2, 10, 20].map((page) => nameOf(trees, page))).toEqual([
      undefined,
      undefined,
      'orders_by_date',
    ]);
  });

  test("names on a page that isn't a leaf of the schema any more don't count; cycles end", () => {
    const { t, touch, pages, names } = app();
    touch('xRead', 1, 5);
    pages(1, [4, 5]);
    names(4, SCHEMA_ROWS);
    names(5, [[7, 'other', '']]);
    pages(2, [10]);
    pages(10, [11]);
    pages(11, [10, 2]);
    t.send();
    expect(treesOf(t).list.map(({ name }) => name)).toEqual([
      'sqlite_schema',
      'orders',
      'orders_by_date',
      'other',
    ]);
    expect([4, 10, 11].map((page) => nameOf(treesOf(t), page))).toEqual([
      'sqlite_schema',
      'orders',
      'orders',
    ]);
    pages(1, [4]);
    t.send();
    expect(treesOf(t).list.map(({ name }) => name)).toEqual([
      'sqlite_schema',
      'orders',
      'orders_by_date',
    ]);
  });

  test('why none is known', () => {
    const store = newStore();
    for (const origin of ['https://a.example/w.js', 'https://b.example/w.js']) {
      const { t, touch, names } = app(origin, store);
      touch('xRead', 1, 13);
      names(1, SCHEMA_ROWS);
      t.send();
    }
    expect(bTreesOf(store)[0]).toMatchObject({
      list: [],
      causes: ['several origins'],
    });
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
        capture: {
          capture: 1,
          layers: ['sql', 'vfs', 'web'],
          buffer: 1024,
          stacks: false,
          ...capture,
        } as never,
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

  test('pages written after the hook stopped following belong to none', () => {
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
    expect([1, 2, 10, 11].map((page) => nameOf(trees, page))).toEqual([
      'sqlite_schema',
      'orders',
      undefined,
      'orders',
    ]);
    expect(trees.causes).toEqual(['changes']);
  });

  test('survive a file; a sanitized copy names them as its statements do', async () => {
    const { t, touch, pages, names } = app();
    t.define({ kind: 'sql', text: 'SELECT * FROM orders WHERE "Odd Name"=?' });
    touch('xRead', 1, 13);
    names(1, [
      ...SCHEMA_ROWS,
      [4, 'Odd Name', ''],
      [5, 'sqlite_autoindex_orders_1', 'orders'],
      [6, 'sqlite_stat1', ''],
    ]);
    pages(2, [10, 11]);
    t.send();
    const { store, warnings } = await readTrace(
      new Uint8Array(await (await saveTrace(t.store)).arrayBuffer()),
    );
    expect(warnings).toEqual([]);
    expect(store.threads[0]!.said).toEqual(t.thread.said);
    expect(privacyReport(store)).toMatchObject({ treeNames: 5, level: 1 });
    expect(privacyText(privacyReport(store))).toContain('5 names of tables and indexes');
    const clean = sanitizeStore(store);
    const said = clean.threads[0]!.said;
    const sql = said.find((d) => d.kind === 'sql') as Extract<Definition, { kind: 'sql' }>;
    const [, table, odd] = /FROM (\w+) WHERE (\w+)=/.exec(sql.text)!;
    const trees = said.find((d) => d.kind === 'b-tree-names') as Extract<
      Definition,
      { kind: 'b-tree-names' }
    >;
    expect(trees.names).toEqual([
      table,
      expect.stringMatching(/^n\d+$/),
      odd,
      `sqlite_autoindex_${table}_1`,
      'sqlite_stat1',
    ]);
    expect(trees.tables).toEqual(['', table, '', table, '']);
    expect(JSON.stringify(said)).not.toMatch(/orders|odd name/i);
    expect(said.find((d) => d.kind === 'b-tree-pages')).toEqual(
      t.thread.said.find((d) => d.kind === 'b-tree-pages'),
    );
  });

  test('forged definitions are rejected on entry', () => {
    const good = {
      kind: 'b-tree-names',
      id: 1,
      file: 2,
      at: 3,
      page: 4,
      roots: [5],
      names: ['a'],
      tables: [''],
    };
    const pages = { kind: 'b-tree-pages', id: 1, file: 2, at: 3, page: 4, children: [5] };
    const batch = (d: unknown): boolean =>
      isThreadMessage({
        k: 'batch',
        batch: {
          thread: 'a',
          first: 0,
          count: 0,
          timeOrigin: 1,
          dropped: 0,
          faults: 0,
          definitions: [d],
          records: new ArrayBuffer(0),
        },
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
