// Settings of views persist: across tabs, in the address, and after a reload. No view waits for a
// lost answer.
import { describe, expect, it } from 'vitest';
import { Op } from '../../src/event/event.ts';
import { id, viewHarness } from './view-harness.ts';
import { statementTable } from '../traces/analyses.ts';
import { shownEvents } from './shown-events.ts';

const TRACE = 'checkpoint-storm';
const panel = viewHarness([TRACE]);
const some = (n: number): string => `${n.toLocaleString('en-US')} event${n === 1 ? '' : 's'}`;
const reads = (): number =>
  panel
    .store(TRACE)
    .threads.reduce(
      (n, { events }) =>
        n + events.op.subarray(0, events.count).filter((op) => op === Op.xRead).length,
      0,
    );
const hash = (): Promise<string> => panel.page.evaluate(() => decodeURIComponent(location.hash));

describe('the address', () => {
  it("has Events' filters, and a reload shows them again", async () => {
    const { page } = panel;
    await panel.load(TRACE, '#tab=events&events.layers=vfs&events.more=1&events.op=xRead');
    await panel.waitText(id('event-count'), some(reads()));
    await page.waitForFunction(
      (s: string) => document.querySelector<HTMLSelectElement>(s)?.value === 'xRead',
      {},
      id('where-op'),
    );
    await page.type(id('filter'), 'no such thing');
    await panel.waitText(id('event-count'), '0 events');
    await page.waitForFunction(() => location.hash.includes('events.filter=no'));
    await page.reload();
    await panel.waitText(id('event-count'), '0 events');
    expect(await page.$eval(id('filter'), (e) => (e as HTMLInputElement).value)).toBe(
      'no such thing',
    );
    // one step back to all of them
    await page.$$eval('[aria-label="Events"] p button', (all) => (all[0] as HTMLElement).click());
    await panel.waitText(id('event-count'), some(panel.store(TRACE).eventCount));
    await page.waitForFunction(() => !/events\.(filter|op|layers)/.test(location.hash));
  });

  it('has what is selected and sorted in a table, also from another tab', async () => {
    const { page } = panel;
    await panel.open(TRACE, 'statements');
    await panel.waitFor(id('statements-row'));
    await panel.click(id('sort-executions'));
    await panel.click(id('statements-row'));
    const chosen = await page.$eval(`${id('statements')} [aria-selected=true]`, (row) =>
      row.getAttribute('data-key')!,
    );
    await page.waitForFunction(() => location.hash.includes('statements.chosen'));
    expect(await hash()).toContain('statements.sort=executions');
    await panel.click(id('tab-wal'));
    await panel.waitFor(id('wal-chart'));
    await panel.click(id('tab-statements'));
    await panel.waitFor(`${id('statements')} [aria-selected=true]`);
    // a burst of changes is written once
    await page.waitForFunction(() => location.hash.includes('tab=statements'));
    await page.reload();
    await panel.waitFor(`${id('statements')} [aria-selected=true]`);
    expect(
      await page.$eval(`${id('statements')} [aria-selected=true]`, (row) =>
        row.getAttribute('data-key')!,
      ),
    ).toBe(chosen);
    expect(
      await page.$eval(`${id('sort-executions')}`, (b) =>
        b.parentElement!.getAttribute('aria-sort'),
      ),
    ).toBe('descending');
  });

  it('has the visible part of the page map, its selection, and the place of table and border', async () => {
    const { page } = panel;
    await panel.open(TRACE, 'files');
    await panel.waitFor(`${id('page-map')}[data-to-place]`);
    const map = await page.$(id('page-map'));
    const size = (): Promise<number[]> =>
      page.$eval(id('page-map'), (e) => [
        Number(e.getAttribute('data-from-place')),
        Number(e.getAttribute('data-to-place')),
      ]);
    const all = await size();
    await map!.focus();
    for (const key of ['ArrowRight', 'ArrowUp', '+']) await map!.press(key as 'ArrowRight');
    await panel.waitFor(id('page-map-all'));
    await page.waitForFunction(
      (s: string, to: number) =>
        Number(document.querySelector(s)?.getAttribute('data-to-place')) < to,
      {},
      id('page-map'),
      all[1]!,
    );
    const zoomed = await size();
    await panel.click(id('list-pages'));
    await panel.waitFor(id('pages-row'));
    await panel.click(`${id('pages-row')}:nth-of-type(3)`);
    await panel.waitFor(id('places-chosen'));
    const chosen = await page.$eval(id('places-chosen'), (e) =>
      e.textContent!.replace(/…|\d+ calls?/, ''),
    );
    await page.focus('[aria-label="Border between the map and the table of pages"]');
    await page.keyboard.press('ArrowUp');
    const border = await page.$eval(
      '[aria-label="Border between the map and the table of pages"]',
      (e) => e.getAttribute('aria-valuenow'),
    );
    await page.$eval(id('pages'), (e) => e.scrollTo(0, 66));
    await page.waitForFunction(
      () =>
        /pages.area/.test(location.hash) &&
        /rows.pages=66/.test(location.hash) &&
        /border.pages/.test(location.hash),
    );
    await page.reload();
    await panel.waitFor(id('page-map-all'));
    await page.waitForFunction(
      (s: string, to: number) =>
        Number(document.querySelector(s)?.getAttribute('data-to-place')) === to,
      {},
      id('page-map'),
      zoomed[1]!,
    );
    expect(await size()).toEqual(zoomed);
    await panel.waitFor(id('places-chosen'));
    expect(
      await page.$eval(id('places-chosen'), (e) => e.textContent!.replace(/…|\d+ calls?/, '')),
    ).toBe(chosen);
    expect(
      await page.$eval('[aria-label="Border between the map and the table of pages"]', (e) =>
        e.getAttribute('aria-valuenow'),
      ),
    ).toBe(border);
    await page.waitForFunction(
      (s: string) => document.querySelector(s)?.scrollTop === 66,
      {},
      id('pages'),
    );
    // another store: its own map, complete
    await page.$$eval('[aria-expanded=false]', (all) =>
      all.forEach((row) => (row as HTMLElement).click()),
    );
    const store = `${id('file-row')}[data-path*="/wa-sqlite/"]`;
    await panel.waitFor(store);
    await page.$eval(store, (row) => (row as HTMLElement).click());
    await page.waitForFunction(() => !/pages.(area|chosen)/.test(location.hash));
  });

  it("has the timeline's setup: tracks, the area and its table, the I/O map, the zooms", async () => {
    const { page } = panel;
    await panel.open(TRACE, 'timeline');
    await panel.waitFor(id('lanes-menu'));
    const lanes = (): Promise<string[]> =>
      page.$$eval('.gutter .lane-box .lane', (all) => all.map((e) => e.textContent!.trim()));
    await page.waitForFunction(() => document.querySelectorAll('.gutter .lane-box').length > 3);
    const before = await lanes();
    await panel.click(id('lanes-menu'));
    await panel.click(id('show-vfs'));
    await page.keyboard.press('Escape');
    await page.waitForFunction(
      (n: number) => document.querySelectorAll('.gutter .lane-box').length < n,
      {},
      before.length,
    );
    await panel.click('.lane-box [data-do=pin]');
    await page.waitForSelector('.pins .lane-box');
    await panel.click(id('toggle-map'));
    for (const zooms of [1, 2]) {
      await page.waitForFunction(
        (n: number) => document.querySelectorAll('[data-testid=crumb]').length === n,
        {},
        zooms,
      );
      if (zooms === 1) await page.keyboard.press('w');
    }
    await page.keyboard.press('m');
    await panel.click(id('area-by-file'));
    const now = await lanes();
    await page.waitForFunction(
      () => /timeline.by=file/.test(location.hash) && /timeline.zooms/.test(location.hash),
    );
    const said = await hash();
    for (const part of [
      'timeline.hidden=kind:vfs',
      'timeline.pinned=',
      'timeline.map=0',
      'timeline.area=',
    ])
      expect(said).toContain(part);
    const crumbs = await page.$$eval(id('crumb'), (all) => all.map((e) => e.textContent));
    await page.reload();
    await panel.waitFor(`${id('area-by-file')}[aria-checked=true]`);
    await page.waitForSelector('.pins .lane-box');
    expect(await lanes()).toEqual(now);
    expect(await page.$(id('io-map'))).toBeNull();
    expect(await page.$$eval(id('crumb'), (all) => all.map((e) => e.textContent))).toEqual(crumbs);
    expect(await hash()).toBe(said);
    // a track that is shown again stays so after another reload
    await panel.click(id('lanes-menu'));
    await panel.click(id('reset-lanes'));
    await page.waitForFunction(() => !/timeline.(hidden|pinned)/.test(location.hash));
    await page.reload();
    await page.waitForFunction(
      (n: number) => document.querySelectorAll('.gutter .lane-box').length === n,
      {},
      before.length,
    );
  });

  it('has what is expanded in the Answer, and its scroll position', async () => {
    const { page } = panel;
    await panel.open(TRACE, 'answer');
    await panel.waitFor(id('finding-title'));
    await panel.click(id('finding-title'));
    await panel.waitFor(id('fold-details'));
    await panel.click(id('fold-details'));
    await panel.waitFor(id('time-whole'));
    await panel.click(id('time-whole'));
    await panel.waitFor(id('finding-details'));
    await page.$eval(id('answer-view'), (e) => e.scrollTo(0, 50));
    await page.waitForFunction(
      () => /rows.answer=50/.test(location.hash) && /answer.open/.test(location.hash),
    );
    await page.reload();
    await panel.waitFor(id('finding-details'));
    await panel.waitFor(id('time-whole'));
    expect(await page.$eval(id('time-whole'), (e) => e.getAttribute('aria-pressed'))).toBe('true');
    await page.waitForFunction(
      (s: string) => document.querySelector(s)?.scrollTop === 50,
      {},
      id('answer-view'),
    );
  });

  it('that is invalid shows everything', async () => {
    await panel.load(
      TRACE,
      '#tab=events&events.layers=nonsense,sql,vfs,web,host&events.thread=x&events.more=1&timeline.area=5,,&a.b.c=1',
    );
    await panel.waitText(id('event-count'), some(shownEvents(panel.store(TRACE).threads)));
  });
});

describe('answers that arrive late', () => {
  it("aren't lost while tabs change and the trace grows", async () => {
    const { page } = panel;
    // every message to and from the store's worker is delayed for varying times, in its order
    await page.evaluateOnNewDocument(() => {
      const Real = Worker;
      let n = 0;
      const late = (before: Promise<void>): Promise<void> =>
        before.then(() => new Promise((done) => setTimeout(done, (n++ * 37) % 130)));
      window.Worker = class extends Real {
        private there = Promise.resolve();
        private back = Promise.resolve();
        override postMessage(
          message: unknown,
          transfer?: Transferable[] | StructuredSerializeOptions,
        ): void {
          this.there = late(this.there).then(() =>
            super.postMessage(message, transfer as Transferable[]),
          );
        }
        override addEventListener(
          type: string,
          listener: EventListenerOrEventListenerObject,
        ): void {
          const hear = (event: Event): void =>
            typeof listener === 'function' ? listener(event) : listener.handleEvent(event);
          const heard = (event: Event): void =>
            void (this.back = late(this.back).then(() => hear(event)));
          super.addEventListener(type, type === 'message' ? heard : listener);
        }
      };
    });
    const table = statementTable(panel.store(TRACE))!;
    await panel.load(TRACE);
    for (const tab of ['statements', 'transactions', 'statements', 'locks', 'wal', 'statements'])
      await panel.click(id(`tab-${tab}`));
    await page.waitForFunction(
      (s: string, rows: string) =>
        document.querySelector(s)?.getAttribute('aria-rowcount') === rows,
      {},
      id('statements'),
      String(table.rows.length + 1),
    );
  });
});
