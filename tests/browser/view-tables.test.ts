// The views that list things, on recordings of real engines: what they show is what the analyses find, and leads to its events.
import type { Page } from 'puppeteer-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { oneLine } from '../../src/text/clean.ts';
import { formatDuration } from '../../src/text/numbers.ts';
import { fingerprint } from '../../src/sqlite/sql-text.ts';
import { isFailure, objectName } from '../../src/trace/describe.ts';
import { ownersOf } from '../../src/trace/owners.ts';
import { Op } from '../../src/event/event.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { threadTitles } from '../../src/analysis/core/thread-titles.ts';
import { headline, headlineIn } from '../../src/analysis/answer/headline.ts';
import { failedCallsIn } from '../../src/analysis/errors/failed-calls.ts';
import { sqliteThreads } from '../../src/analysis/core/main-threads.ts';
import { filesByOrigin } from '../../src/analysis/files/table.ts';
import type { TimeRange } from '../../src/analysis/core/time-range.ts';
import { worst, worstIn } from '../../src/analysis/answer/worst.ts';
import { topTables, type TopTable } from '../../src/analysis/answer/top-tables.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { waitLines } from '../../src/analysis/contention/wait-lines.ts';
import {
  statementTable as allStatements,
  statementTableIn,
} from '../../src/analysis/statements/statement-table.ts';
import { headlineNumbers } from '../../src/analysis/report/headline-numbers.ts';
import { transactionRows } from '../../src/analysis/transactions/table.ts';
import { checkpointLines } from '../../src/analysis/wal/table.ts';
import { id, viewHarness } from './view-harness.ts';
import {
  checkpointsOf,
  locksOf,
  pageAccessesOf,
  statementTable,
  transactionsOf,
  walHistories,
} from '../traces/analyses.ts';
import { shownEvents } from './shown-events.ts';

const panel = viewHarness([
  'opfs-wl-two-tabs',
  'checkpoint-storm',
  'memory-delete',
  'idb-batch-atomic',
  'absurd-sql',
  'opfs-coop-sync',
]);
const { open, waitFor, waitText, click } = panel;
let page: Page;
beforeEach(() => void (page = panel.page));
const count = (n: number): string => n.toLocaleString('en-US');
const some = (n: number, what: string): string => `${count(n)} ${what}${n === 1 ? '' : 's'}`;
/** Rows of a table in all, its heading not counted. */
const rowsOf = async (table: string): Promise<number> =>
  Number(await page.$eval(id(table), (e) => e.getAttribute('aria-rowcount'))) - 1;
const texts = (selector: string): Promise<string[]> =>
  page.$$eval(selector, (all) => all.map((e) => e.textContent?.trim() ?? ''));
const fill = async (field: string, text: string): Promise<void> => {
  await page.$eval(id(field), (e) => (e as HTMLInputElement).select());
  await page.keyboard.press('Backspace');
  await page.type(id(field), text);
};
const says = (selector: string, words: string): Promise<unknown> =>
  page.waitForFunction(
    (s: string, w: string) => document.querySelector(s)?.textContent?.includes(w),
    {},
    selector,
    words,
  );
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
  it('are all there; one opens as its anatomy and leads to the timeline', async () => {
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

describe('what comes first', () => {
  const shownKeys = (table: string): Promise<string[]> =>
    page.$$eval(id(`${table}-row`), (all) => all.map((e) => (e as HTMLElement).dataset['key']!));
  it('are writing transactions, the longest on top', async () => {
    const facts = new Facts(await open('opfs-wl-two-tabs', 'transactions'));
    const { count: all, at } = facts.get(transactionRows);
    const sorted = Array.from({ length: all }, (_, i) => at(i)).sort(
      (a, b) =>
        Number(b.kind === 'write') - Number(a.kind === 'write') || b.durationUs - a.durationUs,
    );
    expect(sorted[0]!.kind).toBe('write');
    expect(sorted.at(-1)!.kind).toBe('read');
    // a read is longer than some write: by duration alone it would stand above it
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

it('a statement reads as the app wrote it in every view; its fingerprint is what the address has', async () => {
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
  it('without a value are left out, which is said; a border is dragged, a double click undoes it', async () => {
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
  it('are moved by a drag of the heading, which sorts nothing, and by keys; the order stays with the view', async () => {
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
  it('of which none has a value are counted, with why', async () => {
    await open('absurd-sql', 'statements');
    await waitFor(id('statements-row'));
    const title = await page.$eval(id('hidden-columns'), (e) => (e as HTMLElement).title);
    expect(await page.$eval(id('hidden-columns'), (e) => e.textContent)).toBe(
      `${title.split('\n').length} empty columns hidden`,
    );
    expect(title).toMatch(/Cache hits: .*n\/a/);
  });
});

describe('a part of the time', () => {
  it('leads from the Answer to the statements that have it, and back to all of it', async () => {
    const table = statementTable(await open('idb-batch-atomic', 'answer'))!;
    await waitFor(id('answer-time'));
    await page.$$eval(`${id('answer-time')} li button`, (all) =>
      (all.find((e) => e.textContent!.includes('IDB transaction')) as HTMLElement).click(),
    );
    // what cost most is narrowed at once
    await says(id('narrowed'), 'of IDB transaction, filtered');
    await click(id('tab-statements'));
    await waitFor(id('statements-row'));
    const having = table.rows.filter(({ time }) => time.idbTransactionUs > 0);
    const us = having.reduce((sum, { time }) => sum + time.idbTransactionUs, 0);
    await says(id('statement-count'), `${formatDuration(us)} of IDB transaction`);
    expect(await rowsOf('statements')).toBe(having.length);
    await click(id('part-chip'));
    await says(id('statement-count'), 'while SQL runs');
    expect(await rowsOf('statements')).toBe(table.rows.length);
  });

  it('is picked and taken back by a click on the bar of the Answer, too', async () => {
    await open('idb-batch-atomic', 'answer');
    const onBar = `${id('answer-time')} .bar [aria-label="IDB transaction"]`;
    await waitFor(onBar);
    await page.click(onBar);
    await says(id('part-chip'), 'IDB transaction');
    await waitFor(`${onBar}[aria-pressed=true]`);
    // the sentence, what recording cost, what to do, and the top tables are of all of it, and marked so; moments are of no part
    await page.waitForFunction(
      (s: string) => document.querySelectorAll(s).length === 5,
      {},
      id('entire'),
    );
    expect(await texts(id('entire'))).toEqual([
      ...Array<string>(4).fill('Entire recording'),
      'All of the time',
    ]);
    await page.click(onBar);
    await page.waitForSelector(id('part-chip'), { hidden: true });
    expect(await page.$(id('entire'))).toBeNull();
  });
});

describe('a number of the details', () => {
  it('leads to the statements, or the calls, that it is about', async () => {
    const facts = new Facts(await open('idb-batch-atomic', 'answer'));
    await waitFor(id('fold-details'));
    await click(id('fold-details'));
    const go = async (number: string): Promise<void> => {
      await click(id('tab-answer'));
      await waitFor(`${id(`number-${number}`)} button`);
      await click(`${id(`number-${number}`)} button`);
    };
    await go('ioShare');
    await waitFor(`${id('statements')} [data-heading="io"][aria-sort="descending"]`);
    await go('lockCallShare');
    await says(id('part-chip'), 'Lock calls');
    const { lockUs } = facts.get(headline).times!;
    await says(id('statement-count'), `${formatDuration(lockUs)} of Lock calls`);
    await go('idbTransactions');
    const { value } = facts.get(headlineNumbers).find(({ id }) => id === 'idbTransactions')!;
    await waitText(id('event-count'), some(value!, 'event'));
  });
});

/** Events of a statement's calls, and under them. */
const eventsOf = ({ threads }: TraceStore, text: string): number =>
  threads.reduce((n, thread) => {
    const owners = ownersOf(thread);
    for (let row = 0; row < thread.events.count; row++) {
      const call = owners.statement(row);
      if (call >= 0 && fingerprint(objectName(thread, thread.events.object[call]!)) === text) n++;
    }
    return n;
  }, 0);

describe('the filters of the panel', () => {
  it('of a statement follow into every view, and a chip takes them back', async () => {
    const store = await open('checkpoint-storm', 'statements');
    await waitFor(id('statements-row'));
    const row = statementTable(store)!.rows.find(({ text, executions }) => text && executions > 1);
    await page.$$eval(
      id('statements-row'),
      (all, start) => (all.find((e) => e.textContent!.includes(start)) as HTMLElement).click(),
      oneLine(row!.sql!).slice(0, 20),
    );
    await click(id('only-statement'));
    await says(id('statement-count'), '1 statement,');
    await click(id('tab-transactions'));
    await waitFor(id('statement-chip'));
    const ran = [...transactionsOf(store).list].length;
    await page.waitForFunction(
      (s: string, all: number) => {
        const shown = Number(document.querySelector(s)?.getAttribute('aria-rowcount')) - 1;
        return shown > 0 && shown < all;
      },
      {},
      id('transactions'),
      ran,
    );
    await click(id('tab-events'));
    await waitText(id('event-count'), some(eventsOf(store, row!.text!), 'event'));
    // a view that can't follow it says so
    await click(id('tab-wal'));
    expect(await page.$eval(id('statement-chip'), (e) => e.getAttribute('aria-pressed'))).toBe(
      'false',
    );
    await click(id('statement-chip'));
    await click(id('tab-events'));
    await waitText(id('event-count'), some(shownEvents(store.threads), 'event'));
  });

  it('of a table take the statements that touched it, from the Answer on', async () => {
    const facts = new Facts(await open('idb-batch-atomic', 'answer'));
    const [{ table }] = facts.get(topTables) as [TopTable, ...TopTable[]];
    await waitFor(`${id('top-tables')} button`);
    await click(`${id('top-tables')} button`);
    await waitText(`${id('table-chip')} span`, table);
    await says(id('narrowed'), ', filtered');
    await click(id('tab-statements'));
    const { rows } = statementTableIn(facts, { table })!;
    await says(id('statement-count'), some(rows.length, 'statement'));
    await click(id('table-chip'));
    await says(id('statement-count'), some(facts.get(allStatements)!.rows.length, 'statement'));
  });

  it('leave the worst moments of what they take, each with a picture of its thread', async () => {
    const facts = new Facts(await open('idb-batch-atomic', 'answer'));
    await waitFor(id('moment-strip'));
    const pictures = (): Promise<number[]> =>
      page.$$eval(id('moment-strip'), (all) =>
        (all as HTMLCanvasElement[]).map((canvas) => {
          const { width, height } = canvas;
          const { data } = canvas.getContext('2d')!.getImageData(0, 0, width, height);
          return new Set(new Uint32Array(data.buffer)).size;
        }),
      );
    const { moments } = facts.get(worst);
    await expect.poll(async () => (await pictures()).length).toBe(moments.length);
    expect((await pictures()).every((colors) => colors > 1)).toBe(true);
    await click(`${id('top-tables')} button`);
    await says(id('narrowed'), ', filtered');
    const [{ table }] = facts.get(topTables) as [TopTable, ...TopTable[]];
    await expect
      .poll(() =>
        page.$$eval(`${id('worst-moments')} .name`, (all) => all.map((e) => e.textContent)),
      )
      .toEqual(worstIn(facts, { table }).moments.map(({ title }) => title));
  });

  it("of a thread and a range narrow Locks and Errors to the Answer's own number and to what Events lists", async () => {
    const store = await open('opfs-wl-two-tabs', 'answer');
    const facts = new Facts(store);
    const waited = (thread: number): number => headlineIn(facts, { thread }).times!.lockWaitUs;
    const [busiest] = facts
      .get(sqliteThreads)
      .map(({ index }) => index)
      .sort((a, b) => waited(b) - waited(a)) as [number];
    expect(waited(busiest)).toBeGreaterThan(0);
    expect(waited(busiest)).toBeLessThan(facts.get(headline).times!.lockWaitUs);
    const show = (hash: string): Promise<void> =>
      page.evaluate((hash: string) => void (location.hash = hash), hash);
    await show(`#tab=locks&filter.thread=${busiest}`);
    await says(id('lock-count'), `waits for locks, ${formatDuration(waited(busiest))}`);
    const lanes = await page.$$eval(id('lock-lane'), (all) => all.length);
    // and those of the worker that does its storage, and waits for it
    const { holds, waits } = locksOf(store);
    const drawn = new Set([
      busiest,
      ...facts.get(waitLines).flatMap((w) => (w.sqlite === busiest ? [w.waiter] : [])),
    ]);
    const own = [holds, waits].flatMap((c) =>
      Array.from({ length: c.count }, (_, i) =>
        drawn.has(c.thread[i]!) ? [`${c.thread[i]}:${c.resource[i]}`] : [],
      ).flat(),
    );
    expect(drawn.size).toBeGreaterThan(1);
    expect(lanes).toBe(new Set(own).size);

    const rows = (scope: Parameters<typeof filesByOrigin>[1]): string[] =>
      filesByOrigin(store, scope)
        .map(({ timeUs }) => formatDuration(timeUs))
        .sort();
    await show(`#tab=files&filter.thread=${busiest}`);
    await expect
      .poll(async () => (await texts(`${id('file-row')} [data-column=timeUs]`)).sort())
      .toEqual(rows({ thread: busiest }));
    expect(rows({ thread: busiest })).not.toEqual(rows({}));

    const failures = (scope: Parameters<typeof failedCallsIn>[1]): string => {
      const { events, handled } = failedCallsIn(facts, scope);
      return `${some(events, 'failed call')}, ${count(handled)} handled`;
    };
    const failing = failedCallsIn(facts, {}).groups[0]!.events[0]!;
    await show(`#tab=errors&filter.thread=${failing.thread}`);
    await says(id('error-count'), failures({ thread: failing.thread }));
    // halves of the recording: one of them has fewer
    const [from, to] = store.extent();
    const half = Math.round((from + to) / 2);
    const halves = [
      { fromUs: Math.floor(from), toUs: half },
      { fromUs: half, toUs: Math.ceil(to) },
    ];
    for (const range of halves) {
      await show(`#tab=errors&filter.range=1&from=${range.fromUs}&to=${range.toUs}`);
      await says(id('error-count'), failures(range));
    }
    expect(halves.map(failures)).not.toEqual([failures({}), failures({})]);
    expect(await page.$eval(id('range-chip'), (e) => e.getAttribute('aria-pressed'))).toBe('true');
  });

  it('of a thread and a statement follow into the timeline: its tracks alone, and all runs marked', async () => {
    const store = await open('checkpoint-storm', 'timeline');
    const row = statementTable(store)!.rows.find(({ text, executions }) => text && executions > 1)!;
    const hash = `filter.statement=${encodeURIComponent(row.text!)}`;
    await page.evaluate((hash: string) => void (location.hash = hash), `#tab=timeline&${hash}`);
    await waitFor(`${id('timeline')}[data-marks="${row.executions}"]`);
    expect(await page.$eval(id('statement-chip'), (e) => e.getAttribute('aria-pressed'))).toBe(
      'true',
    );
    await click(id('statement-chip'));
    await waitFor(`${id('timeline')}[data-marks="0"]`);
    const tracks = (): Promise<string[]> =>
      page.$$eval('[data-testid^="thread-"]', (all) =>
        all
          .map((e) => (e as HTMLElement).dataset['testid']!)
          .filter((name) => /^thread-\d+$/.test(name)),
      );
    const all = await tracks();
    const thread = store.threads.find(({ index }) => all.includes(`thread-${index}`))!.index;
    await page.evaluate(
      (hash: string) => void (location.hash = hash),
      `#tab=timeline&filter.thread=${thread}`,
    );
    await expect.poll(tracks).toEqual([`thread-${thread}`]);
    await click(id('thread-chip'));
    await expect.poll(tracks).toEqual(all);
  });

  it('of a range narrow the checkpoints; the sums of the log are marked as of the entire recording', async () => {
    const store = await open('checkpoint-storm', 'wal');
    const [log] = walHistories(store);
    const all = new Facts(store).get(checkpointLines).filter(({ path }) => path === log!.path);
    expect(all.length).toBeGreaterThan(1);
    await waitFor(id('checkpoints-row'));
    expect(await rowsOf('checkpoints')).toBe(all.length);
    const { fromUs, toUs } = all[0]!;
    await page.evaluate(
      (hash: string) => void (location.hash = hash),
      `#tab=wal&filter.range=1&from=${fromUs}&to=${toUs}`,
    );
    await waitFor(`${id('wal-view')} ${id('entire')}`);
    const within = all.filter((c) => c.fromUs < toUs && c.toUs >= fromUs).length;
    expect(within).toBeLessThan(all.length);
    await expect.poll(() => rowsOf('checkpoints')).toBe(within);
  });

  it('of a thread take its statements, transactions, and events alone', async () => {
    const store = await open('opfs-wl-two-tabs', 'answer');
    await waitFor(id('fold-details'));
    await click(id('fold-details'));
    await waitFor(id('thread-time'));
    const title = await page.$eval(`${id('thread-time')} button`, (e) => e.textContent!.trim());
    await click(`${id('thread-time')} button`);
    await says(id('thread-chip'), title.slice(0, 10));
    await says(id('narrowed'), ', filtered');
    const wanted = store.threads.find(({ index }) => threadTitles(store)[index] === title)!;
    await click(id('tab-events'));
    await waitText(id('event-count'), some(shownEvents([wanted]), 'event'));
    await click(id('tab-transactions'));
    const own = [...transactionsOf(store).list].filter(({ thread }) => thread === wanted.index);
    await waitText(id('transaction-count'), some(own.length, 'transaction'));
  });
});

describe('the range on the timeline', () => {
  it('filters every view that can, by one switch and one chip', async () => {
    const { list } = transactionsOf(await open('memory-delete', 'events'));
    await waitFor(id('in-view'));
    const k = list.length >> 1;
    const between = (i: number): number => (list.endUs[i]! + list.beginUs[i + 1]!) / 2;
    const [from, to] = [between(k - 1), between(k)];
    await page.evaluate(
      (hash: string) => (location.hash = hash),
      `#tab=events&from=${from}&to=${to}`,
    );
    await click(id('in-view'));
    await waitFor(id('range-chip'));
    await click(id('tab-transactions'));
    await waitFor(id('range-chip'));
    const rows = (n: number): Promise<unknown> =>
      page.waitForFunction(
        (s: string, n: string) => document.querySelector(s)?.getAttribute('aria-rowcount') === n,
        {},
        id('transactions'),
        String(n + 1),
      );
    await rows(1);
    await click(id('range-chip'));
    await rows(list.length);
    await click(id('tab-events'));
    await waitFor(id('in-view'));
    expect(await page.$eval(id('in-view'), (e) => (e as HTMLInputElement).checked)).toBe(false);
  });
});

describe('the range on the timeline, on the Answer and in Files', () => {
  const third = (store: TraceStore): { fromUs: number; toUs: number } => {
    const [from, to] = store.extent();
    return {
      fromUs: Math.round(from + (to - from) / 3),
      toUs: Math.round(to - (to - from) / 3),
    };
  };
  const narrowTo = ({ fromUs, toUs }: { fromUs: number; toUs: number }): Promise<void> =>
    page.evaluate(
      (hash: string) => void (location.hash = hash),
      `#tab=answer&from=${fromUs}&to=${toUs}&filter.range=1&answer.details=1`,
    );

  it('narrows the sentence, its bar, and the times of threads; the strip shows where it lies', async () => {
    const store = await open('idb-batch-atomic', 'answer');
    const facts = new Facts(store);
    const whole = facts.get(headline);
    await says(id('answer'), whole.text);
    await waitFor(id('busy-strip'));
    expect(await page.$(id('busy-out'))).toBeNull();
    const range = third(store);
    await narrowTo(range);
    await waitFor(id('range-chip'));
    const { text, times } = headlineIn(facts, range);
    await says(id('answer'), text);
    expect(await page.$eval(id('answer'), (e) => e.textContent)).not.toContain('Entire');
    await says(`${id('answer-time')} li:first-of-type`, formatDuration(times!.cpuUs));
    await waitFor(id('busy-out'));
    const sqlUs = statementTableIn(facts, range)!.spanUs;
    await says(`${id('thread-time')} .head`, formatDuration(sqlUs));
    // what to do and the numbers below are of all of it
    const marked = (): Promise<string[]> =>
      page.$$eval(id('entire'), (all) =>
        all.map((e) => e.parentElement!.textContent!.replace(/\s+/g, ' ').trim()),
      );
    expect(await marked()).toEqual([
      expect.stringMatching(/^Recording cost your app about /),
      expect.stringMatching(/^What to do/),
      'Top tables and indexes Entire recording',
      'Numbers Entire recording',
    ]);
    await click(id('range-chip'));
    await says(id('answer'), whole.text);
  });

  it('narrows the tree of Files; how the chosen file is used is of all of it, and marked', async () => {
    const store = await open('idb-batch-atomic', 'files');
    await waitFor(id('file-use-pane'));
    expect(await page.$(id('entire'))).toBeNull();
    const range = third(store);
    const timeOf = async (): Promise<string[]> => texts(`${id('file-row')} [data-column=timeUs]`);
    const rows = (among: TimeRange): string[] =>
      filesByOrigin(store, among).map(({ timeUs }) => formatDuration(timeUs));
    await expect.poll(async () => (await timeOf()).sort()).toEqual(rows({}).sort());
    await narrowTo(range);
    await click(id('tab-files'));
    await expect.poll(async () => (await timeOf()).sort()).toEqual(rows(range).sort());
    await waitFor(`${id('file-use-pane')} ${id('entire')}`);
    await waitFor(id('file-use-range'));
  });
});

describe('locks', () => {
  it('every hold and wait is drawn; a wait is set off on the lanes and leads to its event', async () => {
    const locks = locksOf(await open('opfs-wl-two-tabs', 'locks'));
    await waitFor(id('wait-matrix')); // first, where threads waited for each other
    await click(id('locks-waits'));
    await waitFor(id('lock-waits-row'));
    const lanes = new Set(
      [locks.holds, locks.waits].flatMap((c) =>
        Array.from({ length: c.count }, (_, i) => `${c.thread[i]}:${c.resource[i]}`),
      ),
    );
    expect(
      await page.$eval(id('lock-lanes'), (e) => Number((e as HTMLElement).dataset.lanes)),
    ).toBe(lanes.size);
    await waitFor(`${id('lock-lanes')}[data-frame]`);
    const spans = await page.$$eval(id('lock-track'), (all) =>
      all.map((e) => Number((e as HTMLElement).dataset.spans)),
    );
    expect(spans.length).toBeGreaterThan(0);
    expect(spans.every((n) => n > 0)).toBe(true);
    // something of the lock's color is painted
    const painted = await page.$eval(id('lock-track'), (e) => {
      const canvas = e as HTMLCanvasElement;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      let n = 0;
      for (let i = 0; i < data.length; i += 4)
        if (data[i + 3]! > 0 && data[i + 1]! > data[i]! + 30) n++;
      return n;
    });
    expect(painted).toBeGreaterThan(100);
    await click(id('lock-waits-row'));
    await waitFor(`${id('lock-lane')}.marked`);
    await waitFor(id('lock-chosen'));
    await click(id('lock-show'));
    await waitFor(`${id('tab-timeline')}[aria-selected=true]`);
    await waitFor(id('details-name'));
  });

  it('says who waits for whom as a matrix and a table first; filters by kind and thread', async () => {
    const locks = locksOf(await open('opfs-wl-two-tabs', 'locks', 420));
    const others = locks.edges.filter((e) => e.waiter !== e.holder);
    const pairs = new Set(others.map((e) => `${e.waiter}:${e.holder}`));
    /** Waits whose holder was not recorded have a column of their own. */
    const unseen = (keys: Iterable<string>): string[] =>
      [...keys].filter((key) => key.endsWith(':'));
    await waitFor(`${id('locks-graph')}[aria-selected=true]`);
    await waitFor(id('wait-arrow'));
    const cells = await page.$$eval(id('wait-arrow'), (all) =>
      all.map((e) => (e as HTMLElement).dataset.key!),
    );
    expect(new Set(cells)).toEqual(new Set([...pairs, ...unseen(cells)]));
    expect(unseen(cells).length).toBeGreaterThan(0);
    expect(await rowsOf('lock-graph')).toBe(cells.length);
    await page.focus(id('wait-arrow'));
    await page.keyboard.press('Enter');
    await waitFor(`${id('wait-arrow')}.selected`);
    const unseenWebLocks = await page.$$eval(
      `${id('lock-graph')} [data-column=names]`,
      (cells) =>
        cells.filter(
          (cell) =>
            cell.textContent.includes('sqlite3-vfs-opfs:') &&
            cell.parentElement!.textContent.includes('Holder not recorded'),
        ).length,
    );
    await page.select(id('lock-kind'), 'web-lock');
    const left = new Set(
      others
        .filter((e) => locks.resources[e.resource]!.kind === 'web-lock')
        .map((e) => `${e.waiter}:${e.holder}`),
    );
    await waitText(`${id('locks-graph')} small`, String(left.size + unseenWebLocks));
    await fill('lock-filter', 'no such lock');
    await waitText(`${id('locks-graph')} small`, '0');
    expect(await page.$(id('lock-lane'))).toBeNull();
    expect(await page.evaluate(() => document.querySelector('.vfscope')!.scrollWidth)).toBe(420);
  });

  it("folds a VFS's own access handles into one lane that opens", async () => {
    await open('opfs-coop-sync', 'locks');
    await waitFor(id('lock-pool'));
    const names = (): Promise<string[]> =>
      page.$$eval(`${id('lock-lane')} bdi`, (all) => all.map((e) => e.textContent));
    expect((await names()).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(await page.$eval(id('lock-pool'), (e) => e.ariaLabel)).toMatch(
      /^10 access handles of \/\.ahp-\w+\/$/,
    );
    const lanes = (await names()).length;
    await click(id('lock-pool'));
    await waitFor(`${id('lock-pool')}[aria-expanded=true]`);
    await page.waitForFunction(
      (s: string, n: number) => Number(document.querySelector<HTMLElement>(s)!.dataset.lanes) === n,
      {},
      id('lock-lanes'),
      lanes + 10,
    );
    await click(id('lock-pool'));
    await waitFor(`${id('lock-pool')}[aria-expanded=false]`);
    expect((await names()).length).toBe(lanes);
  });

  it('says which range the lanes show, and narrows the tables to it on demand; a wheel zooms as on the timeline', async () => {
    await open('opfs-wl-two-tabs', 'locks');
    await waitFor(id('locks-waits'));
    await click(id('locks-waits'));
    await waitFor(id('lock-waits-row'));
    const waits = (): Promise<number> =>
      page.$eval(`${id('locks-waits')} small`, (e) => Number(e.textContent.replace(/,/g, '')));
    const said = (words: string): Promise<unknown> =>
      page.waitForFunction(
        (s: string, wanted: string) => document.querySelector(s)!.textContent.includes(wanted),
        {},
        id('range-words'),
        words,
      );
    const all = await waits();
    expect(all).toBeGreaterThan(1);
    await said('Tracks show the entire recording');
    const track = (await (await page.$(id('lock-track')))!.boundingBox())!;
    await page.mouse.move(track.x + 4, track.y + 5);
    await page.mouse.wheel({ deltaY: -600 });
    await page.mouse.wheel({ deltaY: -600 });
    await said('tables the entire recording');
    expect(await waits()).toBe(all);
    await click(id('range-visible'));
    await page.waitForFunction(
      (s: string, n: number) => Number(document.querySelector(s)!.textContent) < n,
      {},
      `${id('locks-waits')} small`,
      all,
    );
    await waitFor(id('range-chip'));
    await click(id('range-all'));
    await waitText(`${id('locks-waits')} small`, String(all));
    await said('Tracks show the entire recording');
    await page.focus(id('range-strip'));
    await page.keyboard.press('+');
    await said('tables the entire recording');
  });

  it('says so where there is nothing', async () => {
    await open('memory-delete', 'locks');
    await waitFor(id('locks-busy'));
    await click(id('locks-busy'));
    await page.waitForFunction(
      (s: string) => document.querySelector(s)?.textContent?.includes('No SQLITE_BUSY'),
      {},
      id('lock-busy'),
    );
  });
});

describe('the write-ahead log', () => {
  it('has its commits, frames and checkpoints', async () => {
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
  it('says why there is none', async () => {
    await open('memory-delete', 'wal');
    await waitFor(id('no-wal'));
  });
});

describe('errors', () => {
  it('are counted and lead to their events', async () => {
    const n = failed(await open('opfs-wl-two-tabs', 'errors'));
    expect(n).toBeGreaterThan(0);
    await page.waitForFunction(
      (s: string, w: string) => document.querySelector(s)?.textContent?.trim().startsWith(w),
      {},
      id('error-count'),
      `0 failed calls, ${n} handled`, // the proxy looks for files that are not there, and tries again for handles
    );
    await click(id('errors-row'));
    await waitFor(id('error-details'));
    await click(id('error-show'));
    await waitFor(`${id('tab-timeline')}[aria-selected=true]`);
    await waitFor(id('details-name'));
  });
});

describe('events', () => {
  it('are filtered by column, selected as a range, copied and saved', async () => {
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

  it('columns are chosen, and are still so after the view was away', async () => {
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
