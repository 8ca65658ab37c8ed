// Files and pages, Cache, and Query in the viewer, in an ordinary tab: what they show for a known
// trace, and what clicks and keys do.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, ElementHandle, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plain } from '../../src/text/clean.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { servePanel } from '../../tools/dev/panel.mjs';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { builtPanel } from './built-panel.ts';

const id = (name: string): string => `[data-testid="${name}"]`;
const HOSTILE = '/<img src=x onerror=alert(1)>\u202e.db';
const PAGE = 4096;
const PAGES = 30;
let folder: string;
let server: Awaited<ReturnType<typeof servePanel>>;
let browser: Browser;
let page: Page;
const failures: string[] = [];

/**
 * Thirty pages, each read twice and written once by one statement, with counters. Then a name that
 * is markup.
 */
function trace(): TraceStore {
  const store = newStore();
  const t = new ThreadBuilder(store, { name: 'db' });
  const sql = t.define({ kind: 'sql', text: 'SELECT * FROM note' });
  const db = t.file('/app.db');
  const journal = t.file('/app.db-journal', 'journal');
  t.say({
    kind: 'engine',
    id: 900,
    name: 'wa-sqlite',
    sqliteVersion: '3.53.0',
    sourceId: null,
    suspension: 'none',
    layers: { vfs: true, sql: true, counters: true },
    note: null,
  });
  t.call('sqlOpen', { context: 1 });
  for (let round = 1; round <= 3; round++) {
    t.call('sqlStep', { object: sql, context: 1, aux: round, dur: 10, result: 101 }, () => {
      for (let n = 1; n <= PAGES; n++)
        if (round < 3)
          t.call('xRead', {
            object: db,
            context: 1,
            offset: (n - 1) * PAGE,
            length: PAGE,
            aux2: 13,
            dur: 5,
          });
        else
          t.call('xWrite', {
            object: db,
            context: 1,
            offset: (n - 1) * PAGE,
            length: PAGE,
            aux2: 13,
            dur: 5,
          });
    });
    t.call('sqlCounters', { context: 1, offset: 10 * round, length: PAGES * Math.min(2, round) });
    t.idle(1000);
  }
  t.call('xWrite', { object: journal, context: 1, offset: 0, length: 512 });
  t.call('xRead', { object: t.file(HOSTILE), context: 2, offset: 0, length: PAGE });
  t.send();
  return store;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'vfscope-data-'));
  const file = path.join(folder, 'data.vfst');
  await writeFile(file, Buffer.from(await (await saveTrace(trace())).arrayBuffer()));
  const out = await builtPanel();
  server = await servePanel({ out, traces: { 'data.vfst': file } });
  browser = await launchPlainBrowser();
  page = await browser.newPage();
  page.on('pageerror', (error) =>
    failures.push(error instanceof Error ? error.message : String(error)),
  );
  await page.setViewport({ width: 1400, height: 800 });
  await page.goto(`${server.url}?test&open=/traces/data.vfst`);
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
}, 400_000); // it builds the panel
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

const show = (view: string): Promise<void> =>
  page.$eval(id(`tab-${view}`), (tab) => (tab as HTMLElement).click());
const text = (selector: string): Promise<string> =>
  page.$eval(selector, (e) => e.textContent?.replace(/\s+/g, ' ').trim() ?? '');
const waitText = (selector: string, wanted: string): Promise<unknown> =>
  page.waitForFunction(
    (s: string, w: string) =>
      document.querySelector(s)?.textContent?.replace(/\s+/g, ' ').trim() === w,
    {},
    selector,
    wanted,
  );
const cell = (row: number, column: string): string =>
  `${id('pages')} [data-key="${row}"] [data-column="${column}"]`;
async function query(sql: string): Promise<void> {
  await page.click(id('sql-editor'));
  await page.keyboard.down('Control');
  await page.keyboard.press('a');
  await page.keyboard.up('Control');
  await page.keyboard.sendCharacter(sql);
  await page.keyboard.down('Control');
  await page.keyboard.press('Enter');
  await page.keyboard.up('Control');
}

describe('files and pages', () => {
  it("shows the busiest database's pages, and another file's cause", async () => {
    await show('files');
    await page.waitForSelector(id('transfers-row'));
    expect(
      await page.$$eval(id('transfers-row'), (rows) =>
        rows.map((row) =>
          [...row.querySelectorAll('[data-column]')]
            .slice(0, 3)
            .map((one) => one.textContent.replace(/\s+/g, ' ').trim()),
        ),
      ),
    ).toEqual([
      ['read page', '4 KiB', '58'],
      ['write page', '4 KiB', '29'],
      ['read page 1', '4 KiB', '2'],
      ['write page 1', '4 KiB', '1'],
    ]);
    const facts = await page.$$eval(`${id('file-use')} tr`, (rows) =>
      rows.map((row) => row.textContent.replace(/\s+/g, ' ').trim()),
    );
    expect(facts).toContain('Sequential writes30 writes in 1 sequence, 29 could be merged');
    expect(await page.$$eval(`${id('file-use')} tr:not([title])`, (rows) => rows.length)).toBe(0);
    await page.click(id('list-pages'));
    await page.waitForSelector(id('pages-row'));
    expect(
      await page.$eval(
        `${id('file-row')}[aria-selected=true]`,
        (row) => (row as HTMLElement).dataset.path,
      ),
    ).toBe('/app.db');
    await waitText(cell(2, 'reads'), '2');
    expect(await Promise.all(['rereads', 'writes', 'type'].map((c) => text(cell(2, c))))).toEqual([
      '1',
      '1',
      'table leaf',
    ]);
    await page.waitForFunction(
      (s: string) => (document.querySelector(s) as HTMLElement).dataset.toPlace === '31',
      {},
      id('page-map'),
    );
    await page.click(`${id('file-row')}[data-kind=journal]`);
    await page.waitForSelector(id('no-pages'));
    expect(await text(id('no-pages'))).toContain('See the map of the database');
    await page.waitForSelector(`${id('file-use-pane')} ${id('transfers-row')}`);
    await page.click(`${id('no-pages')} button`);
    await page.waitForSelector(id('pages-row'));
    expect(
      await page.$$eval(id('file-row'), (rows) => rows.map((r) => (r as HTMLElement).dataset.path)),
    ).toContain(plain(HOSTILE));
  });

  it("moves by keys, zooms in, and shows a cell's calls on the timeline", async () => {
    await page.focus(id('page-map'));
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowLeft');
    await page.waitForSelector(id('page-tip'));
    expect(await text(id('page-tip'))).toContain('Page 1');
    await page.keyboard.press('+');
    await page.waitForSelector(id('page-map-all'));
    await page.waitForFunction(
      (s: string) => Number((document.querySelector(s) as HTMLElement).dataset.toPlace) < 31,
      {},
      id('page-map'),
    );
    await page.keyboard.press('-');
    await page.waitForFunction(
      (s: string) => (document.querySelector(s) as HTMLElement).dataset.toPlace === '31',
      {},
      id('page-map'),
    );
    await page.click(cell(3, 'reads'));
    await page.waitForFunction(
      (s: string) => document.querySelector(s)?.textContent?.includes('3 calls'),
      {},
      id('places-chosen'),
    );
    await page.click(id('places-show'));
    await waitText(id('details-name'), 'xRead');
    await page.waitForSelector(id('timeline'));
  });

  it('link a kind of write, and a fact, to the calls that they count', async () => {
    const evidence = (count: string): Promise<unknown> =>
      page.waitForFunction(
        (s: string, wanted: string) => document.querySelector(s)?.textContent.includes(wanted),
        {},
        id('evidence'),
        `1 of ${count}`,
      );
    await show('files');
    await (await page.waitForSelector(id('list-use')))!.click();
    const writes = `${id('transfers')} [data-key="write page"] ${id('transfer-show')}`;
    await (await page.waitForSelector(writes))!.click();
    await evidence('29');
    await waitText(id('details-name'), 'xWrite');
    await show('files');
    await page.waitForSelector(id('file-use'));
    const link = await page.waitForFunction(
      (s: string) =>
        [...document.querySelectorAll<HTMLElement>(s)].find((e) =>
          e.textContent.includes('could be merged'),
        ),
      {},
      `${id('file-use')} button`,
    );
    await (link as ElementHandle).click();
    // until then the bar is the previous one
    await page.waitForSelector(`${id('tab-timeline')}[aria-selected=true]`);
    await evidence('29');
  });
});

describe('cache', () => {
  it("shows the engine's counters, the curve, and its kind", async () => {
    await show('cache');
    await page.waitForSelector(id('curve-goal'));
    expect(
      await Promise.all(
        ['cache-hits', 'cache-misses', 'cache-hit-rate'].map((name) => text(id(name))),
      ),
    ).toEqual(['30', '60', '33.3 %']);
    expect(await text(id('curve-kind'))).toContain('Upper bound');
    expect(await text(id('curve-size'))).toContain('cache_size -2000 (assumed)');
    // its curve falls nowhere, so it isn't drawn
    for (const part of [
      'cache-rate',
      'cache-pages',
      'cache-set',
      'cache-statements-row',
      'phase-cold',
    ])
      expect(await page.$(id(part)), part).not.toBeNull();
    await page.$eval(id('cache-pages'), (chart) => (chart as SVGElement).focus());
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.waitForSelector(id('timeline'));
  });
});

describe('SQL', () => {
  it('runs a query in the worker, shows, charts, and saves it, and links to the event', async () => {
    await show('sql');
    await query("SELECT thread, seq, object, length FROM events WHERE op = 'xRead' ORDER BY seq");
    await page.waitForSelector(id('sql-result-row'));
    expect(await text(id('sql-count'))).toMatch(new RegExp(`^${PAGES * 2 + 1} rows, `));
    await page.click(id('sql-csv'));
    await page.waitForFunction(() => window.panel.saved.length === 1);
    const csv = await page.evaluate(() => window.panel.saved[0]!.data.text());
    expect(csv.split('\n').length).toBe(PAGES * 2 + 3);
    expect(csv).toContain(HOSTILE.replace('\u202e', '\ufffd'));
    await page.select(id('sql-chart'), 'bars');
    await page.waitForSelector(id('sql-bars'));
    await page.select(id('sql-chart'), 'table');
    await page.click(id('sql-show'));
    await waitText(id('details-name'), 'xRead');
    expect(failures).toEqual([]);
  });

  it('keeps text and result, completes names, remembers past queries, and shows errors', async () => {
    await show('sql');
    await page.waitForSelector(id('sql-result-row'));
    await query('SELECT unknown FROM events');
    await page.waitForSelector(id('sql-error'));
    expect(await text(id('sql-error'))).toBe('no such column: unknown');
    await page.click(id('sql-history'));
    expect(
      await page.$$eval(`${id('sql-history-menu')} [role=menuitem]`, (all) => all.length),
    ).toBe(1); // the successful one
    await page.keyboard.press('Escape');
    // text entered before the names are known completes only SQL's own words
    await page.click(id('sql-tables-toggle'));
    await page.waitForSelector(`${id('sql-tables')} button`);
    await page.click(id('sql-tables-toggle'));
    await page.click(id('sql-editor'));
    await page.keyboard.down('Control');
    await page.keyboard.press('a');
    await page.keyboard.up('Control');
    await page.keyboard.type('SELECT count(*) FROM chec');
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.cm-tooltip-autocomplete li')].some((e) =>
        e.textContent.includes('checkpoints'),
      ),
    );
    await page.keyboard.press('Escape');
    await page.click(id('sql-tables-toggle'));
    await page.waitForSelector(`${id('sql-tables')} details`);
    expect(
      await page.$$eval(`${id('sql-tables')} details`, (all) => all.length),
    ).toBeGreaterThanOrEqual(10);
    expect(failures).toEqual([]);
  });
});
