// Lists by keyboard and with a screen reader: sort by headings, move row by row, copy, and reach
// the end of any list.
import { describe, expect, it } from 'vitest';
import { saveTrace } from '../../src/trace/file/write.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { id, ViewerPage } from './viewer-page.ts';

/** Rows of 20 px. In total they are higher than a browser's maximum for an element. */
const MANY = 410_000;

/** Reads of one page each. */
async function trace(reads: number): Promise<Uint8Array> {
  const store = newStore();
  const t = new ThreadBuilder(store, { name: 'db' });
  const db = t.file('/app.db');
  for (let i = 0; i < reads; i++)
    t.call('xRead', { object: db, context: 1, offset: 4096 * i, length: 4096 });
  t.send();
  return new Uint8Array(await (await saveTrace(store)).arrayBuffer());
}
const viewer = new ViewerPage(async () => ({
  'few.vfst': await trace(200),
  'many.vfst': await trace(MANY),
}));
const open = async (name: string, tab: string, rows: string): Promise<void> => {
  await viewer.open(`open=/traces/${name}#tab=${tab}`);
  await viewer.page.waitForSelector(id('file-name'));
  await viewer.page.waitForSelector(id(rows));
};
const EVENTS = '.events [role=grid]';
const press = (
  ...keys: ('ArrowDown' | 'ArrowUp' | 'ArrowRight' | 'Enter' | 'Tab' | 'End')[]
): Promise<void> =>
  keys.reduce(
    (before, key) => before.then(() => viewer.page.keyboard.press(key)),
    Promise.resolve(),
  );
const copy = async (): Promise<void> => {
  await viewer.page.keyboard.down('Control');
  await viewer.page.keyboard.press('c');
  await viewer.page.keyboard.up('Control');
};
const focused = (): Promise<string | undefined> =>
  viewer.page.evaluate(() => (document.activeElement as HTMLElement).dataset.testid);
/** Resolves when this row is the screen reader's active one, selected, and completely visible. */
const active = (grid: string, rowindex: number): Promise<unknown> =>
  viewer.page.waitForFunction(
    (s: string, wanted: string) => {
      const table = document.querySelector(s)!;
      const row = document.getElementById(table.getAttribute('aria-activedescendant') ?? '');
      if (
        row?.getAttribute('aria-rowindex') !== wanted ||
        row.getAttribute('aria-selected') !== 'true'
      )
        return false;
      const [outer, inner, head] = [table, row, table.firstElementChild!].map((e) =>
        e.getBoundingClientRect(),
      ) as [DOMRect, DOMRect, DOMRect];
      return inner.top >= head.bottom - 1 && inner.bottom <= outer.top + table.clientHeight + 1;
    },
    {},
    grid,
    String(rowindex),
  );

describe('by keyboard', () => {
  it('a table is sorted: Tab reaches its headings, and arrows move along them and back to the rows', async () => {
    await open('few.vfst', 'files&pages.list=pages', 'pages-row');
    await viewer.page.focus(id('pages'));
    await press('Tab');
    expect(await focused()).toBe('sort-place');
    await press('ArrowRight');
    const next = await focused();
    expect(next).toMatch(/^sort-(?!place)/);
    await press('Enter');
    const sorted = (how: string): Promise<unknown> =>
      viewer.page.waitForSelector(`${id('pages')} [aria-sort=${how}] ${id(next!)}`);
    await sorted('ascending').catch(() => sorted('descending'));
    await press('ArrowDown');
    expect(await focused()).toBe('pages');
    await active(id('pages'), 2);
    await press('ArrowDown');
    await active(id('pages'), 3);
  });

  it('Events begin at the first visible row, and announce which row is active', async () => {
    await open('few.vfst', 'events', 'event-row');
    expect(await viewer.page.$eval(EVENTS, (e) => e.getAttribute('aria-rowcount'))).toBe('201');
    await viewer.page.$eval(EVENTS, (e) => e.scrollTo(0, 210));
    await viewer.page.waitForSelector(`${id('event-row')}[aria-rowindex="30"]`);
    await viewer.page.focus(EVENTS);
    await press('ArrowDown');
    await active(EVENTS, 13);
    await press('ArrowDown');
    await active(EVENTS, 14);
  });

  it("copying a row leaves the focus in place, even if the panel can't access the clipboard", async () => {
    await open('few.vfst', 'files&pages.list=pages', 'pages-row');
    await viewer.page.evaluate(() => {
      Object.defineProperty(navigator, 'clipboard', {
        value: { writeText: () => Promise.reject(new Error('not here')) },
      });
    });
    await viewer.page.focus(id('pages'));
    await press('ArrowDown');
    await active(id('pages'), 2);
    await copy();
    await viewer.page.waitForSelector(`${id('toast')}[role=status]`);
    expect(await focused()).toBe('pages');
    await press('ArrowDown');
    await active(id('pages'), 3);
  });
});

describe('more rows than a browser can scroll', () => {
  it('are visible to the last one, in Events', async () => {
    await open('many.vfst', 'events', 'event-row');
    await viewer.waitText(id('event-count'), `${MANY.toLocaleString('en-US')} events`);
    await viewer.page.$eval(EVENTS, (e) => e.scrollTo(0, e.scrollHeight));
    const last = `${id('event-row')}[aria-rowindex="${MANY + 1}"]`;
    await viewer.page.waitForSelector(last);
    const [row, list] = await viewer.page.evaluate(
      (...all) => all.map((s) => document.querySelector(s)!.getBoundingClientRect().bottom),
      last,
      EVENTS,
    );
    expect(row).toBeLessThanOrEqual(list! + 1);
  });

  it("are visible to the last one, in a table, which doesn't scroll while the next row is visible; a cut copy is reported", async () => {
    await open('many.vfst', 'files&pages.list=pages', 'pages-row');
    await viewer.page.focus(id('pages'));
    await copy();
    await viewer.page.waitForFunction(
      (s: string) =>
        document
          .querySelector(s)
          ?.textContent?.includes('50,000 rows are on the clipboard. The first of 410,000.'),
      {},
      id('toast'),
    );
    await press('ArrowDown');
    await viewer.page.waitForSelector(id('details')); // takes space
    await viewer.page.evaluate(
      () => new Promise((laidOut) => requestAnimationFrame(() => requestAnimationFrame(laidOut))),
    );
    await press('End');
    await active(id('pages'), MANY + 1);
    const scrolled = (): Promise<number> => viewer.page.$eval(id('pages'), (e) => e.scrollTop);
    const before = await scrolled();
    await press('ArrowUp', 'ArrowUp', 'ArrowUp');
    await active(id('pages'), MANY - 2);
    expect(await scrolled()).toBe(before);
  });
});
