// Statements in the panel: fingerprints and their runs, a statement's displayed text, and table
// columns.
import type { Page } from 'puppeteer-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { oneLine } from '../../src/text/clean.ts';
import { id, viewHarness } from './view-harness.ts';
import { statementTable } from '../traces/analyses.ts';
import { readingOf } from './view-reading.ts';

const panel = viewHarness(['checkpoint-storm', 'absurd-sql']);
const { open, waitFor, click } = panel;
const { rowsOf, texts, says } = readingOf(panel);
let page: Page;
beforeEach(() => void (page = panel.page));
const count = (n: number): string => n.toLocaleString('en-US');

describe('statements', () => {
  it('are listed by fingerprint, with their runs', async () => {
    const table = statementTable(await open('checkpoint-storm', 'statements'))!;
    await waitFor(id('statements-row'));
    expect(await rowsOf('statements')).toBe(table.rows.length);
    const runs = Math.max(...table.rows.map((row) => row.executions));
    await click(id('sort-executions'));
    await page.waitForFunction(
      (s: string, n: string) => document.querySelector(s)?.textContent?.trim() === n,
      {},
      `${id('statements-row')} [data-column=executions]`,
      count(runs),
    );
    await click(id('statements-row'));
    await waitFor(id('statement-text'));
    await waitFor(id('statement-runs'));
  });
});

it('a statement is shown as the app wrote it in every view, and the address has its fingerprint', async () => {
  const { rows } = statementTable(await open('checkpoint-storm', 'answer'))!;
  const row = rows.find(({ text, sql }) => text !== null && oneLine(sql!) !== text)!;
  const [print, sql] = [row.text!, oneLine(row.sql!)];
  await waitFor(`${id('top-statements')} .name`);
  expect(await texts(`${id('top-statements')} .name`)).toContain(sql);
  await click(id('tab-statements'));
  await waitFor(id('statements-row'));
  const cells = `${id('statements-row')} [data-column=fingerprint]`;
  expect(await texts(cells)).toContain(sql);
  await page.$$eval(
    cells,
    (all, wanted) => (all.find((e) => e.textContent!.trim() === wanted) as HTMLElement).click(),
    sql,
  );
  await says(id('statement-text'), sql.slice(0, 12));
  await click(id('only-statement'));
  await page.waitForFunction(
    (s: string, wanted: string) =>
      document.querySelector<HTMLElement>(s)?.title.includes(`Only this statement: ${wanted}\n`),
    {},
    id('statement-chip'),
    sql,
  );
  await page.waitForFunction(
    (text: string) => [...new URLSearchParams(location.hash.slice(1)).values()].includes(text),
    {},
    print,
  );
  await click(id('tab-flame'));
  await waitFor(id('flame-row'));
  expect(await texts(`${id('flame-row')} [data-column=name]`)).toContainEqual(
    expect.stringContaining(sql),
  );
});

describe('columns', () => {
  it('without a value are left out and listed; a border can be dragged, and a double click resets it', async () => {
    const table = statementTable(await open('checkpoint-storm', 'statements', 2200))!;
    await waitFor(id('statements-row'));
    const shown = await page.$$eval(`${id('statements')} [role=columnheader]`, (all) =>
      all.map((e) => (e as HTMLElement).dataset.heading),
    );
    expect(shown.includes('hits')).toBe(table.rows.some(({ cache }) => cache !== null));
    const width = (): Promise<number> =>
      page.$eval(
        `${id('statements')} [data-heading=executions]`,
        (e) => (e as HTMLElement).offsetWidth,
      );
    const before = await width();
    const border = `${id('statements')} [data-heading=executions] .border`;
    const box = (await (await page.$(border))!.boundingBox())!;
    await page.mouse.move(box.x + 2, box.y + 5);
    await page.mouse.down();
    await page.mouse.move(box.x + 52, box.y + 5, { steps: 3 });
    await page.mouse.up();
    expect(await width()).toBe(before + 50);
    await page.focus(`${id('statements')} [data-heading=executions] button`);
    await page.keyboard.down('Alt');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.up('Alt');
    expect(await width()).toBe(before + 34);
    // it stays with the view
    await click(id('tab-answer'));
    await waitFor(id('answer-view'));
    await click(id('tab-statements'));
    await waitFor(id('statements-row'));
    expect(await width()).toBe(before + 34);
    const now = (await (await page.$(border))!.boundingBox())!;
    await page.mouse.click(now.x + 2, now.y + 5, { count: 2 });
    expect(await width()).toBe(before);
  });
  it("are moved by dragging the heading, which doesn't sort, and by keys; the order stays with the view", async () => {
    await open('checkpoint-storm', 'statements');
    await waitFor(id('statements-row'));
    const headings = (): Promise<string[]> =>
      page.$$eval(`${id('statements')} [role=columnheader]`, (all) =>
        all.map((e) => (e as HTMLElement).dataset.heading!),
      );
    const sorts = (): Promise<string[]> =>
      page.$$eval(`${id('statements')} [role=columnheader]`, (all) =>
        all.map((e) => e.getAttribute('aria-sort')!),
      );
    const before = await headings();
    const middle = async (key: string): Promise<{ x: number; y: number }> => {
      const box = (await (await page.$(
        `${id('statements')} [data-heading=${key}]`,
      ))!.boundingBox())!;
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    };
    const [first, , third] = before as [string, string, string];
    const sorted = (await sorts())[before.indexOf(first)];
    const from = await middle(first);
    const to = await middle(third);
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x + 4, to.y, { steps: 4 });
    await page.mouse.up();
    const after = [before[1], third, first, ...before.slice(3)];
    expect(await headings()).toEqual(after);
    expect((await sorts())[2]).toBe(sorted);
    const cells = await page.$$eval(`${id('statements-row')}:first-child [role=gridcell]`, (all) =>
      all.map((e) => (e as HTMLElement).dataset.column),
    );
    expect(cells).toEqual(after);
    await click(id('tab-transactions'));
    await waitFor(id('transactions-row'));
    await click(id('tab-statements'));
    await waitFor(id('statements-row'));
    expect(await headings()).toEqual(after);
    await page.focus(`${id('statements')} [data-heading=${first}] button`);
    await page.keyboard.down('Alt');
    await page.keyboard.down('Shift');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.up('Shift');
    await page.keyboard.up('Alt');
    expect(await headings()).toEqual(before);
  });
  it('without any value are counted, with the reason', async () => {
    await open('absurd-sql', 'statements');
    await waitFor(id('statements-row'));
    const title = await page.$eval(id('hidden-columns'), (e) => (e as HTMLElement).title);
    expect(await page.$eval(id('hidden-columns'), (e) => e.textContent)).toBe(
      `${title.split('\n').length} empty columns hidden`,
    );
    expect(title).toMatch(/Cache hits: .*n\/a/);
  });
});
