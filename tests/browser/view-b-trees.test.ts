// Tables and indexes of pages in the Files view, for a database that a real engine wrote and read
// during the recording.
import { describe, expect, it } from 'vitest';
import type { BTrees } from '../../src/analysis/pages/b-trees.ts';
import type { ObjectPages } from '../../src/analysis/pages/pages.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { storeOf } from '../contract/helpers/store.ts';
import { Traced } from '../contract/helpers/traced.ts';
import { loadWaSqlite } from '../contract/helpers/wa-sqlite.ts';
import { id, ViewerPage } from './viewer-page.ts';
import { bTreesOf, pageAccessesOf, pagesOf } from '../traces/analyses.ts';

const SQL = [
  'PRAGMA cache_size=20; CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE orders(id INTEGER PRIMARY KEY, day TEXT, total INT)',
  'CREATE INDEX orders_by_date ON orders(day)',
  'WITH RECURSIVE c(x) AS(VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<4000) INSERT INTO orders SELECT x, date(2460000+x*37%900), x FROM c',
  "INSERT INTO customers SELECT id, 'customer '||id FROM orders WHERE id<900",
  'INSERT INTO customers VALUES(5000, hex(zeroblob(9000)))',
  "SELECT total FROM orders WHERE day='2023-05-05'; SELECT name FROM customers WHERE id=5000",
];
let trees: BTrees;
let pages: ObjectPages;
let older: Uint8Array;

const viewer = new ViewerPage(async () => {
  const t = new Traced();
  const { sqlite3 } = await loadWaSqlite('journey-sync');
  const db = await sqlite3.open_v2('app.db');
  for (const sql of SQL) await sqlite3.exec(db, sql);
  await sqlite3.close(db);
  t.restore();
  const store = storeOf(t);
  const accesses = pageAccessesOf(store);
  trees = bTreesOf(store)[0]!;
  pages = pagesOf(store, {}, accesses)[0]!;
  const bytes = new Uint8Array(await (await saveTrace(store)).arrayBuffer());
  t.definitions.splice(
    0,
    t.definitions.length,
    ...t.definitions.filter((d) => !d.kind.startsWith('b-tree')),
  );
  older = new Uint8Array(await (await saveTrace(storeOf(t))).arrayBuffer());
  return { 'app.vfst': bytes, 'older.vfst': older };
});

const nameOf = (page: number): string | undefined => trees.list[trees.ownerOf(page)]?.name;
const pagesCalled = (name: string | undefined): number[] =>
  [...pages.places.place].filter((page) => nameOf(page) === name);
const cell = (page: number, column: string): string =>
  `${id('pages')} [data-key="${page}"] [data-column="${column}"]`;
async function open(trace = 'app', width = 1400): Promise<void> {
  await viewer.open(`open=/traces/${trace}.vfst`, width, 800);
  await viewer.page.$eval(id('tab-files'), (tab) => (tab as HTMLElement).click());
  await viewer.page.waitForSelector(id('list-pages'));
  await viewer.page.click(id('list-pages'));
  await viewer.page.waitForSelector(id('pages-row'));
}
const labels = (): Promise<(string | null)[]> =>
  viewer.page.$$eval(`${id('pages-row')} [data-column=tree]`, (cells) =>
    cells.map((c) => c.textContent.trim()),
  );

describe('tables and indexes of pages', () => {
  it('are in the table, and in the tip of the map', async () => {
    await open();
    expect(pagesCalled('orders').length).toBeGreaterThan(20);
    expect(pagesCalled('orders_by_date').length).toBeGreaterThan(10);
    expect(await viewer.text(cell(1, 'tree'))).toBe('table sqlite_schema');
    const { root } = trees.list.find(({ name }) => name === 'orders_by_date')!;
    expect(await viewer.text(cell(root, 'tree'))).toBe('index orders_by_date');
    await viewer.page.focus(id('page-map'));
    await viewer.page.keyboard.press('ArrowRight');
    await viewer.page.waitForSelector(id('page-tip'));
    for (let page = 2; page <= root; page++) await viewer.page.keyboard.press('ArrowUp');
    await viewer.page.waitForFunction(
      (s: string, wanted: string) =>
        document.querySelector(s)?.textContent.replace(/\s+/g, ' ').includes(wanted),
      {},
      id('page-tip'),
      `Page ${root} · root of index orders_by_date`,
    );
    await viewer.shot('b-trees-light-1400');
  });

  it('filter the pages, and add up to one line each', async () => {
    await open();
    const { root } = trees.list.find(({ name }) => name === 'orders_by_date')!;
    await viewer.page.select(id('pages-tree'), String(root));
    const count = pagesCalled('orders_by_date').length;
    await viewer.page.waitForFunction(
      (s: string) =>
        [...document.querySelectorAll(s)].every(
          (c) => c.textContent.trim() === 'index orders_by_date',
        ),
      {},
      `${id('pages-row')} [data-column=tree]`,
    );
    expect((await labels()).length).toBeLessThanOrEqual(count);
    await viewer.page.select(id('pages-tree'), '-1'); // overflow pages of the long name
    await viewer.page.waitForFunction(
      (s: string) => [...document.querySelectorAll(s)].every((c) => c.textContent.trim() === 'n/a'),
      {},
      `${id('pages-row')} [data-column=tree]`,
    );
    expect((await labels()).length).toBe(pagesCalled(undefined).length);
    expect(await viewer.text(id('b-tree-cause'))).toMatch(
      /^Table or index n\/a for \d+ of \d+ pages: .*overflow/,
    );
    await viewer.page.select(id('pages-tree'), '0');
    await viewer.page.click(id('list-trees'));
    await viewer.page.waitForSelector(id('trees-row'));
    const sum = (name: string | undefined, column: 'reads' | 'writes' | 'rereads'): number =>
      pages.places[column].reduce(
        (total, n, i) => total + (nameOf(pages.places.place[i]!) === name ? n : 0),
        0,
      );
    for (const { name, root: key } of trees.list) {
      const at = `${id('trees')} [data-key="${key}"] [data-column=`;
      if (pagesCalled(name).length === 0) continue;
      expect(
        await Promise.all(
          ['name', 'pages', 'reads', 'rereads', 'writes'].map((c) => viewer.text(`${at}${c}]`)),
        ),
      ).toEqual([
        ...[
          name,
          String(pagesCalled(name).length),
          ...(['reads', 'rereads', 'writes'] as const).map((c) =>
            sum(name, c).toLocaleString('en-US'),
          ),
        ],
      ]);
    }
    await viewer.shot('b-trees-by-tree-1400');
    await viewer.page.click(`${id('trees')} [data-key="${root}"]`);
    expect(
      await viewer.page.$eval(id('pages-tree'), (select) => (select as HTMLSelectElement).value),
    ).toBe(String(root));
  });

  it('show why they are unknown, in a recording without them', async () => {
    await open('older');
    expect(await viewer.page.$(id('pages-tree'))).toBeNull();
    expect(await viewer.text(cell(1, 'tree'))).toBe('n/a');
    expect(await viewer.text(id('b-tree-cause'))).toContain(
      'Tables and indexes of pages n/a: no page of its schema passed',
    );
  });

  it('fit in a narrow panel, in dark colors', async () => {
    await open('app', 400);
    await viewer.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    await viewer.page.waitForSelector(id('pages-tree'));
    expect(
      await viewer.page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth),
    ).toBe(true);
    await viewer.shot('b-trees-dark-400');
    await viewer.page.setViewport({ width: 1400, height: 800 });
    await viewer.shot('b-trees-dark-1400');
  });
});
