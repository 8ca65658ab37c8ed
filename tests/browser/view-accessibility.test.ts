// axe-core finds nothing, not even minor issues, in any view, light and dark, or in what floats
// above the views.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Browser, ElementHandle, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { servePanel } from '../../tools/dev/panel.mjs';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { showTimeline } from './viewer-page.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { builtPanel } from './built-panel.ts';

const id = (name: string): string => `[data-testid="${name}"]`;
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

let browser: Browser;
let server: Awaited<ReturnType<typeof servePanel>>;
let folder: string;
let axe: string;

/** Autocommits that cause findings, an error, a refused lock, and a rollback journal. */
function trace(): TraceStore {
  const store = newStore();
  const t = new ThreadBuilder(store, { name: 'db' });
  const db = t.file('/app.db');
  const journal = t.file('/app.db-journal', 'journal');
  const insert = t.define({ kind: 'sql', text: 'INSERT INTO note VALUES (?)' });
  for (let i = 0; i < 60; i++) {
    t.call('sqlStep', { object: insert, context: 1, aux: i + 1, result: 101, dur: 10 }, () => {
      t.call('xLock', { object: db, context: 1, aux: 1, dur: 5, result: i === 5 ? 5 : 0 });
      t.call('xRead', {
        object: db,
        context: 1,
        offset: 4096,
        length: 4096,
        dur: 50,
        result: i === 9 ? 266 : 0,
      });
      t.call('xLock', { object: db, context: 1, aux: 2, dur: 5 });
      t.call('xWrite', { object: journal, context: 1, offset: 0, length: 512, dur: 10 });
      t.call('xWrite', { object: db, context: 1, offset: 4096, length: 4096, dur: 10 });
      t.call('xSync', { object: db, context: 1, dur: 400 });
      t.call('xDelete', { object: journal, context: 1, dur: 10 });
      t.call('xUnlock', { object: db, context: 1, aux: 0, dur: 5 });
    });
    t.idle(20);
  }
  t.send();
  return store;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vfscope-accessibility-'));
  const file = join(folder, 'a.vfst');
  await writeFile(file, Buffer.from(await (await saveTrace(trace())).arrayBuffer()));
  axe = await readFile(AXE, 'utf8');
  const out = await builtPanel();
  server = await servePanel({ out, traces: { 'a.vfst': file } });
  browser = await launchPlainBrowser();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(query: string, width = 1000): Promise<Page> {
  const page = await browser.newPage();
  await page.setViewport({ width, height: 700 });
  await page.goto(`${server.url}?test&${query}`);
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
  await page.evaluate(axe);
  return page;
}

/** Faults of any impact as `rule: where`. Tests expect []. */
async function faults(page: Page): Promise<string[]> {
  const { violations } = await page.evaluate(async () => {
    const tool = (window as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } })
      .axe;
    return tool.run({ resultTypes: ['violations'], iframes: false });
  });
  return violations.flatMap(({ id: rule, nodes }) =>
    nodes
      .slice(0, 3)
      .map(
        (n) => `${rule}: ${n.target.join(' ')} ${n.html.slice(0, 120)} ${n.failureSummary ?? ''}`,
      ),
  );
}

describe.each(['light', 'dark'])('%s', (theme) => {
  it('every view has no fault', async () => {
    const page = await open(`open=/traces/a.vfst&theme=${theme}`);
    await page.waitForSelector(id('file-name'));
    const views = await page.$$eval('[role=tab][data-testid^=tab-]', (tabs) =>
      tabs.map((tab) => (tab as HTMLElement).dataset.testid!),
    );
    expect(views.length).toBeGreaterThan(5);
    const found: Record<string, string[]> = {};
    for (const view of views) {
      await page.$eval(id(view), (e) => (e as HTMLElement).click());
      await page.waitForSelector(`${id(view)}[aria-selected=true]`);
      await page.waitForNetworkIdle({ idleTime: 50 });
      if (view === 'tab-answer') {
        await page.waitForSelector(id('finding'));
        await page.click(id('finding-title'));
      }
      const wrong = await faults(page);
      if (wrong.length) found[view] = wrong;
    }
    expect(found).toEqual({});
    await page.close();
  });

  it("nor do selections in them: details, a query's result, a selected area, a comparison", async () => {
    const page = await open(`open=/traces/a.vfst&theme=${theme}`);
    await page.waitForSelector(id('file-name'));
    const found: Record<string, string[]> = {};
    const look = async (name: string, selector: string, shown: string): Promise<void> => {
      await page.waitForSelector(selector);
      await page.$eval(selector, (element) => (element as HTMLElement).click());
      await page.waitForSelector(shown);
      await page.waitForNetworkIdle({ idleTime: 50 });
      found[name] = await faults(page);
    };
    const view = (name: string): Promise<void> =>
      page.$eval(id(`tab-${name}`), (tab) => (tab as HTMLElement).click());
    await view('errors');
    await look('errors', id('errors-row'), id('error-details'));
    await view('transactions');
    await look(
      'transactions',
      id('transactions-row'),
      `${id('transactions-row')}[aria-selected=true]`,
    );
    await view('statements');
    await look('statements', id('statements-row'), `${id('statements-row')}[aria-selected=true]`);
    await page.setViewport({ width: 554, height: 700 });
    await look('columns without room', id('statements-room'), id('statements-room-menu'));
    await page.keyboard.press('Escape');
    await page.setViewport({ width: 1000, height: 700 });
    await view('flame');
    await look('flame', id('flame-frame'), id('flame-path'));
    await view('sql');
    await look('sql', id('sql-example'), id('sql-result-row'));
    await view('events');
    await look('events', id('event-row'), id('details'));
    await view('locks');
    await look('locks', id('locks-graph'), `${id('locks-graph')}[aria-selected=true]`);
    await view('timeline');
    await page.keyboard.press('r');
    await page.waitForSelector(id('area-table-row'));
    found.area = await faults(page);
    await view('compare');
    await ((await page.$(id('compare-input'))) as ElementHandle<HTMLInputElement>).uploadFile(
      join(folder, 'a.vfst'),
    );
    await page.waitForSelector(id('compare-strip-b'));
    found.compare = await faults(page);
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((name) => [name, []])));
    await page.close();
  });

  it('nor do dialogs, toasts, evidence, the empty panel, and a recording', async () => {
    const page = await open(`live&theme=${theme}`, 500);
    await showTimeline(page);
    const found: Record<string, string[]> = { empty: await faults(page) };
    await page.click(id('record'));
    await page.waitForSelector(`${id('stop')}:not(:disabled)`);
    await page.evaluate(() => window.panel.app.work(20));
    await page.waitForSelector(id('pause'));
    await page.waitForSelector(`${id('timeline')}[data-frame]`);
    found.recording = await faults(page);
    await page.click(id('stop'));
    await page.waitForSelector(`${id('record')}:not(:disabled)`);
    for (const [name, openIt] of [
      ['key-help', () => page.click(id('help'))],
      ['palette', () => page.click(id('open-palette'))],
      ['export-menu', () => page.click(id('export'))],
      [
        'export-dialog',
        async () => {
          await page.click(id('export'));
          await page.click(id('export-share'));
        },
      ],
    ] as const) {
      await openIt();
      await page.waitForSelector(id(name));
      found[name] = await faults(page);
      await page.keyboard.press('Escape');
      await page.waitForSelector(id(name), { hidden: true });
    }
    await page.$eval(id('tab-answer'), (e) => (e as HTMLElement).click());
    await page.waitForSelector(id('finding-show'));
    await page.click(`${id('finding-show')}:not(:disabled)`);
    await page.waitForSelector(id('evidence'));
    await page.evaluate(() => window.panel.viewer.open(new Blob(['{}']), 'no-trace.json'));
    await page.waitForSelector(`${id('toast')}[role=alert]`);
    found.evidence = await faults(page);
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((name) => [name, []])));
    await page.close();
  });
});

describe('the keyboard', () => {
  it('reaches the tabs with one Tab stop, and moves among them with arrows', async () => {
    const page = await open('open=/traces/a.vfst&theme=light', 320);
    await page.waitForSelector(id('file-name'));
    expect(
      await page.$$eval(
        '[role=tab]',
        (tabs) => tabs.filter((tab) => (tab as HTMLElement).tabIndex === 0).length,
      ),
    ).toBe(1);
    await page.focus(id('tab-timeline'));
    await page.keyboard.press('End');
    await page.waitForSelector(`[role=tab][aria-selected=true]${id('tab-settings')}`);
    expect(await page.evaluate(() => (document.activeElement as HTMLElement).dataset.testid)).toBe(
      'tab-settings',
    );
    // at 320 px it was scrolled into view, and a menu lists all of them
    const seen = await page.$eval(id('tab-settings'), (tab) => {
      const [own, list] = [tab.getBoundingClientRect(), tab.parentElement!.getBoundingClientRect()];
      return own.left >= list.left - 1 && own.right <= list.right + 1;
    });
    expect(seen).toBe(true);
    const tabs = await page.$$eval('[role=tab][data-testid^=tab-]', (all) => all.length);
    expect(await page.$$eval(`${id('more-views')} option`, (options) => options.length)).toBe(tabs);
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector(`[role=tab][aria-selected=true]${id('tab-answer')}`);
    await page.select(id('more-views'), 'files');
    await page.waitForSelector(`[role=tab][aria-selected=true]${id('tab-files')}`);
    await page.close();
  });

  it('a dialog takes the focus and returns it', async () => {
    const page = await open('open=/traces/a.vfst&theme=light');
    await page.waitForSelector(id('file-name'));
    await page.focus(id('help'));
    await page.keyboard.press('Enter');
    await page.waitForSelector(id('key-help'));
    expect(await page.evaluate(() => document.activeElement?.closest('dialog') !== null)).toBe(
      true,
    );
    await page.keyboard.press('Escape');
    await page.waitForSelector(id('key-help'), { hidden: true });
    await page.waitForFunction((s: string) => document.activeElement?.matches(s), {}, id('help'));
    await page.close();
  });
});
