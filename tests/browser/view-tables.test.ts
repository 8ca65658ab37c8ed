// The list views on recordings of real engines: they show what the analyses find, with links to its
// events.
import type { Page } from 'puppeteer-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { isFailure } from '../../src/trace/describe.ts';
import { Op } from '../../src/event/event.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { transactionRows } from '../../src/analysis/transactions/table.ts';
import { checkpointChoices, choiceRows } from '../../src/analysis/what-if/checkpoint-choices.ts';
import { checkpointLines } from '../../src/analysis/wal/table.ts';
import { choiceColumns } from '../../src/analysis/what-if/table.ts';
import { id, viewHarness } from './view-harness.ts';
import { checkpointsOf, pageAccessesOf, transactionsOf, walHistories } from '../traces/analyses.ts';
import { shownEvents } from './shown-events.ts';
import { readingOf } from './view-reading.ts';

const panel = viewHarness([
  'opfs-wl-two-tabs',
  'checkpoint-storm',
  'memory-delete',
  'idb-batch-atomic',
]);
const { open, waitFor, waitText, click } = panel;
const { rowsOf, texts, fill } = readingOf(panel);
let page: Page;
beforeEach(() => void (page = panel.page));
const count = (n: number): string => n.toLocaleString('en-US');
const some = (n: number, what: string): string => `${count(n)} ${what}${n === 1 ? '' : 's'}`;
const failed = ({ threads }: TraceStore): number =>
  threads.reduce((n, { events }) => {
    for (let row = 0; row < events.count; row++)
      if (
        events.op[row] === Op.error ||
        isFailure(events.op[row]!, events.result[row]!, events.flags[row]!)
      )
        n++;
    return n;
  }, 0);

describe('transactions', () => {
  it('are all listed, and one opens with its details and links to the timeline', async () => {
    const all = [...transactionsOf(await open('checkpoint-storm', 'transactions')).list];
    await waitText(id('transaction-count'), some(all.length, 'transaction'));
    const commits = all.filter((t) => t.outcome === 'committed').length;
    expect(await page.$eval(`${id('commits-together')} p`, (e) => e.textContent!.trim())).toMatch(
      new RegExp(`^${commits} commits took .* % of the time`),
    );
    await page.select(id('transaction-kind'), 'write');
    const writes = all.filter((t) => t.kind === 'write').length;
    await page.waitForFunction(
      (s: string, n: number) =>
        document.querySelector(s)?.getAttribute('aria-rowcount') === String(n + 1),
      {},
      id('transactions'),
      writes,
    );
    await click(id('transactions-row'));
    await waitFor(id('waterfall'));
    await click(id('transaction-show'));
    await waitFor(`${id('tab-timeline')}[aria-selected=true]`);
    await waitFor(id('details-name'));
  });
});

describe('a transaction, step by step', () => {
  it('marks held locks, and counts the runs of a statement', async () => {
    await open('idb-batch-atomic', 'transactions');
    await waitFor(id('transactions-row'));
    await click(id('transactions-row'));
    await waitFor(`${id('waterfall')} .held`);
    const look = (selector: string): Promise<string[]> =>
      page.$eval(`${id('waterfall')} ${selector}`, (e) => {
        const { borderTopColor, backgroundColor } = getComputedStyle(e);
        return [borderTopColor, backgroundColor];
      });
    const [border, inside] = await look('.held');
    const [, asking] = await look('.asked'); // no other connection has the lock
    expect(border).toBe(asking);
    expect(inside).toMatch(/\/ 0\.25\)$/);
    expect(await texts(`${id('transaction-anatomy')} ol li`)).toContainEqual(
      expect.stringMatching(/^INSERT INTO t .*\)200 runs, \d/),
    );
  });
});

describe('the first rows', () => {
  const shownKeys = (table: string): Promise<string[]> =>
    page.$$eval(id(`${table}-row`), (all) => all.map((e) => (e as HTMLElement).dataset['key']!));
  it('are writing transactions, the longest first', async () => {
    const facts = new Facts(await open('opfs-wl-two-tabs', 'transactions'));
    const { count: all, at } = facts.get(transactionRows);
    const sorted = Array.from({ length: all }, (_, i) => at(i)).sort(
      (a, b) =>
        Number(b.kind === 'write') - Number(a.kind === 'write') || b.durationUs - a.durationUs,
    );
    expect(sorted[0]!.kind).toBe('write');
    expect(sorted.at(-1)!.kind).toBe('read');
    // a read is longer than some write, so by duration alone it would come first
    const reads = sorted.filter(({ kind }) => kind === 'read');
    const writes = sorted.filter(({ kind }) => kind === 'write');
    expect(reads[0]!.durationUs).toBeGreaterThan(writes.at(-1)!.durationUs);
    await waitFor(id('transactions-row'));
    const keys = await shownKeys('transactions');
    expect(keys.length).toBeGreaterThan(5);
    expect(keys).toEqual(sorted.slice(0, keys.length).map(({ thread, seq }) => `${thread}:${seq}`));
  });

  it('are the longest checkpoints', async () => {
    const facts = new Facts(await open('checkpoint-storm', 'wal'));
    const sorted = facts
      .get(checkpointLines)
      .toSorted((a, b) => b.toUs - b.fromUs - (a.toUs - a.fromUs));
    expect(sorted.length).toBeGreaterThan(2);
    await waitFor(id('checkpoints-row'));
    const keys = await shownKeys('checkpoints');
    expect(keys).toEqual(sorted.slice(0, keys.length).map(({ thread, seq }) => `${thread}:${seq}`));
  });
});

describe('the write-ahead log', () => {
  it('has its commits, frames, and checkpoints', async () => {
    const store = await open('checkpoint-storm', 'wal');
    const [log] = walHistories(store);
    await waitText(id('wal-commit-frames'), log!.commits === null ? 'n/a' : count(log!.commits));
    await waitText(id('wal-frames'), log!.frames === null ? 'n/a' : count(log!.frames));
    const checkpoints = checkpointsOf(store).filter(({ path }) => path === log!.path);
    expect(checkpoints.length).toBeGreaterThan(0);
    expect(await rowsOf('checkpoints')).toBe(checkpoints.length);
    await click(id('checkpoints-row'));
    await waitFor(id('checkpoint-anatomy'));
  });
  it('other checkpoint distances are counted on request, with the recorded one marked', async () => {
    const store = await open('checkpoint-storm', 'wal');
    const [log] = new Facts(store).get(checkpointChoices);
    const rows = choiceRows(log!.choices);
    await waitFor(id('checkpoint-choices'));
    await page.$eval(`${id('checkpoint-choices')} summary`, (e) => (e as HTMLElement).click());
    await waitFor(`${id('checkpoint-choices')} tbody tr`);
    const cells = await page.$$eval(`${id('checkpoint-choices')} tbody tr`, (rows) =>
      rows.map((row) => [...row.querySelectorAll('td')].map((td) => td.textContent!.trim())),
    );
    expect(cells.map(([distance]) => distance)).toEqual(
      rows.map((choice) => choiceColumns.autocheckpoint.text(choice)),
    );
    expect(cells.map((row) => row[3])).toEqual(rows.map(({ dbWrites }) => count(dbWrites)));
    expect(cells.filter(([distance]) => distance!.includes('(recorded'))).toHaveLength(1);
  });
  it('explains why there is none', async () => {
    await open('memory-delete', 'wal');
    await waitFor(id('no-wal'));
  });
});

describe('errors', () => {
  it('are counted and link to their events', async () => {
    const n = failed(await open('opfs-wl-two-tabs', 'errors'));
    expect(n).toBeGreaterThan(0);
    await page.waitForFunction(
      (s: string, w: string) => document.querySelector(s)?.textContent?.trim().startsWith(w),
      {},
      id('error-count'),
      `0 failed calls seen by your app, ${n} handled`, // the proxy looks for missing files, and retries for handles
    );
    await click(id('errors-row'));
    await waitFor(id('error-details'));
    await click(id('error-show'));
    await waitFor(`${id('tab-timeline')}[aria-selected=true]`);
    await waitFor(id('details-name'));
  });
});

describe('events', () => {
  it('are filtered by column, selected as a range, copied, and saved', async () => {
    const store = await open('checkpoint-storm', 'events');
    await waitText(id('event-count'), some(shownEvents(store.threads), 'event'));
    await click(id('more-filters'));
    await waitFor(id('where-page'));
    const pages = pageAccessesOf(store);
    const first = new Set<string>();
    for (let i = 0; i < pages.count; i++)
      if (pages.place[i]! <= 1 && pages.place[i]! + pages.span[i]! > 1)
        first.add(`${pages.thread[i]}:${pages.row[i]}`);
    expect(first.size).toBeGreaterThan(2);
    await fill('where-page', '1');
    await waitText(id('event-count'), some(first.size, 'event'));
    await fill('where-page', 'one');
    await waitFor(`${id('where-page')}[aria-invalid=true]`);
    await waitText(id('event-count'), some(shownEvents(store.threads), 'event'));
    await click(id('where-clear'));
    const writes = store.threads.reduce(
      (n, { events }) =>
        n + events.op.subarray(0, events.count).filter((op) => op === Op.xWrite).length,
      0,
    );
    await waitFor(`${id('where-op')} option[value=xWrite]`);
    await page.select(id('where-op'), 'xWrite');
    await waitText(id('event-count'), some(writes, 'event'));
    await page.waitForFunction(
      (s: string) => [...document.querySelectorAll(s)].every((e) => e.textContent === 'xWrite'),
      {},
      `${id('event-row')} [data-column=call]`,
    );
    const rows = await page.$$(id('event-row'));
    await rows[1]!.click();
    await page.keyboard.down('Shift');
    await (await page.$$(id('event-row')))[3]!.click();
    await page.keyboard.up('Shift');
    await waitText(id('chosen-count'), '3 selected');
    await page.evaluate(() => {
      document.addEventListener(
        'copy',
        () =>
          (document.body.dataset.copied = (document.activeElement as HTMLTextAreaElement).value),
      );
      Object.defineProperty(navigator, 'clipboard', {
        value: { writeText: async (text: string) => void (document.body.dataset.copied = text) },
      });
    });
    await click(id('copy-rows'));
    await waitFor('body[data-copied]');
    const copied = (await page.$eval('body', (e) => e.dataset.copied!)).trimEnd().split('\n');
    expect(copied).toHaveLength(4);
    expect(copied[0]!.split('\t')).toContain('Duration');
    expect(copied.slice(1).every((line) => line.split('\t').includes('xWrite'))).toBe(true);
    await click(id('export-rows'));
    await page.waitForFunction(() => window.panel.saved.length === 1);
    const saved = await page.evaluate(async () => ({
      name: window.panel.saved[0]!.name,
      text: await window.panel.saved[0]!.data.text(),
    }));
    expect(saved.name).toBe('checkpoint-storm-events.csv');
    expect(saved.text.trimEnd().split('\n')).toHaveLength(4);
  });

  it('columns are selected, and the selection outlives the view', async () => {
    await open('memory-delete', 'events');
    await waitFor(id('event-row'));
    await click(id('event-columns'));
    await click(id('column-connection'));
    await click(id('column-time'));
    await page.waitForFunction(
      () => document.querySelector('[role=columnheader]')?.textContent?.trim() === 'Duration',
    );
    expect(await texts('[role=columnheader]')).toContain('Connection');
    await click(id('tab-errors'));
    await waitFor(id('errors-view'));
    await click(id('tab-events'));
    await waitFor(id('event-row'));
    expect(await texts('[role=columnheader]')).toContain('Connection');
    await click(id('event-columns'));
    await click(id('columns-reset'));
    await page.waitForFunction(() =>
      document.querySelector('[role=columnheader]')?.textContent?.trim().startsWith('Time'),
    );
  });
});
