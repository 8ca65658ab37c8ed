// The panel's filters, in every view that supports them: part of the time, statement, table,
// thread, range.
import type { Page } from 'puppeteer-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { oneLine } from '../../src/text/clean.ts';
import { formatDuration } from '../../src/text/numbers.ts';
import { fingerprint } from '../../src/sqlite/sql-text.ts';
import { objectName } from '../../src/trace/describe.ts';
import { ownersOf } from '../../src/trace/owners.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { threadTitles } from '../../src/analysis/core/thread-titles.ts';
import { headline, headlineIn } from '../../src/analysis/answer/headline.ts';
import { coverage } from '../../src/analysis/findings/explanation.ts';
import { explainedParts } from '../../src/analysis/findings/named-time.ts';
import { accounts, type Account } from '../../src/analysis/findings/accounts.ts';
import { PART_WORDS } from '../../src/analysis/core/time-parts.ts';
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
import { headlineNumbers } from '../../src/analysis/numbers/headline-numbers.ts';
import { checkpointLines } from '../../src/analysis/wal/table.ts';
import { id, viewHarness } from './view-harness.ts';
import { locksOf, statementTable, transactionsOf, walHistories } from '../traces/analyses.ts';
import { shownEvents } from './shown-events.ts';
import { readingOf } from './view-reading.ts';

const panel = viewHarness([
  'opfs-wl-two-tabs',
  'checkpoint-storm',
  'memory-delete',
  'idb-batch-atomic',
]);
const { open, waitFor, waitText, click } = panel;
const { rowsOf, texts, says } = readingOf(panel);
let page: Page;
beforeEach(() => void (page = panel.page));
const count = (n: number): string => n.toLocaleString('en-US');
const some = (n: number, what: string): string => `${count(n)} ${what}${n === 1 ? '' : 's'}`;

describe('a part of the time', () => {
  it('links the Answer to the statements that have it, and back', async () => {
    const table = statementTable(await open('idb-batch-atomic', 'answer'))!;
    await waitFor(id('answer-time'));
    await page.$$eval(`${id('answer-time')} li button`, (all) =>
      (all.find((e) => e.textContent!.includes('IDB transaction')) as HTMLElement).click(),
    );
    // the list of what cost most is filtered at once
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

  it("is also selected and removed by a click on the Answer's bar", async () => {
    const facts = new Facts(await open('idb-batch-atomic', 'answer'));
    const onBar = `${id('answer-time')} .bar [aria-label="CPU"]`;
    await waitFor(onBar);
    await page.click(onBar);
    await says(id('part-chip'), 'CPU');
    await waitFor(`${onBar}[aria-pressed=true]`);
    // the sentence, the cost of recording, and the actions are for the entire recording, and marked
    // so
    await expect.poll(() => texts(id('entire'))).toEqual(Array(3).fill('Entire recording'));
    // moments and tables are those with most of it
    const { moments, tables } = worstIn(facts, { part: 'cpu' });
    expect(Math.min(moments.length, tables.length)).toBeGreaterThan(0);
    await expect
      .poll(() => texts(`${id('worst-moments')} .line > :last-child`))
      .toEqual(
        moments.map(
          ({ us, fromUs }) => `${formatDuration(us)} of CPU at ${formatDuration(fromUs)}`,
        ),
      );
    await expect
      .poll(() => texts(`${id('top-tables')} .line > :last-child`))
      .toEqual(tables.map(({ partUs }) => `${formatDuration(partUs!)} of CPU`));
    await page.click(onBar);
    await page.waitForSelector(id('part-chip'), { hidden: true });
    expect(await page.$(id('entire'))).toBeNull();
  });
});

describe('a large cost that no action explains', () => {
  it('links to the statements that have it', async () => {
    const facts = new Facts(await open('memory-delete', 'answer'));
    const [{ part }] = facts.get(accounts) as [Account];
    await waitFor(id('account-show'));
    await click(id('account-show'));
    await says(id('part-chip'), PART_WORDS[part].title);
    const us = facts.get(headline).times![`${part}Us`];
    await says(id('statement-count'), `${formatDuration(us)} of ${PART_WORDS[part].title}`);
  });
});

describe('a number in the sentence', () => {
  it('links to what it counts, or to the lists of its parts', async () => {
    const facts = new Facts(await open('idb-batch-atomic', 'answer'));
    const { said, times } = facts.get(headline);
    const numbers = said.filter((part) => typeof part !== 'string');
    const go = async (text: RegExp): Promise<void> => {
      await click(id('tab-answer'));
      const place = numbers.findIndex((number) => text.test(number.text)) + 1;
      await waitFor(`${id('answer')} ${id('said-number')}:nth-of-type(${place}) button`);
      await page.focus(`${id('answer')} ${id('said-number')}:nth-of-type(${place}) button`);
      await page.keyboard.press('Enter');
    };
    await go(/commit/);
    const committed = [...transactionsOf(facts.store).list].filter(
      ({ outcome }) => outcome === 'committed',
    );
    await says(
      id('transaction-count'),
      `${count(committed.length)} of ${count([...transactionsOf(facts.store).list].length)}`,
    );
    await go(/%/);
    await waitFor(id('number-parts'));
    await click(`${id('number-parts')} button`);
    await says(id('part-chip'), 'Write');
    await says(id('statement-count'), `${formatDuration(times!.writeUs)} of Write`);
    await go(/^[\d.]+ m?s$/); // the time in SQL: of all parts again
    await says(id('statement-count'), 'while SQL runs');
    expect(await page.$(id('part-chip'))).toBeNull();
  });

  it('so do those of what the actions are about, and of what recording cost', async () => {
    const facts = new Facts(await open('idb-batch-atomic', 'answer'));
    const press = async (among: string, place: number): Promise<void> => {
      await click(id('tab-answer'));
      const button = `${id(among)} ${id('said-number')}:nth-of-type(${place}) button`;
      await waitFor(button);
      await page.focus(button);
      await page.keyboard.press('Enter');
    };
    const parts = explainedParts(facts.get(coverage));
    await press('explained', 1);
    await waitFor(id('number-parts'));
    expect(await texts(`${id('number-parts')} button`)).toEqual(
      parts.map(({ part, us }) => `${PART_WORDS[part].title} ${formatDuration(us)}`),
    );
    await click(`${id('number-parts')} button`);
    await says(id('part-chip'), PART_WORDS[parts[0]!.part].title);
    await press('explained', 2);
    await says(id('statement-count'), 'while SQL runs');
    expect(await page.$(id('part-chip'))).toBeNull();
    await press('recording-cost', 1); // no list has it: none of it was timed in SQL
    await says(id('definition'), 'An estimate.');
    await press('recording-cost', 2);
    await says(id('statement-count'), 'while SQL runs');
  });
});

describe('a number in the details', () => {
  it('links to the statements or calls that it counts', async () => {
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
    const all = [...transactionsOf(facts.store).list];
    const committed = all.filter(({ outcome }) => outcome === 'committed');
    expect(committed.length).toBeLessThan(all.length);
    await go('commits');
    await says(id('transaction-count'), `${count(committed.length)} of ${count(all.length)}`);
    expect(await rowsOf('transactions')).toBe(committed.length);
  });
});

/** Events of a statement's calls, and of those below them. */
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
  it('of a statement apply in every view, and a chip removes them', async () => {
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
    // a view that can't apply it reports that
    await click(id('tab-wal'));
    expect(await page.$eval(id('statement-chip'), (e) => e.getAttribute('aria-pressed'))).toBe(
      'false',
    );
    await click(id('statement-chip'));
    await click(id('tab-events'));
    await waitText(id('event-count'), some(shownEvents(store.threads), 'event'));
  });

  it('of a table select the statements that touched it, starting from the Answer', async () => {
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

  it('keep the worst moments among the filtered ones, each with a picture of its thread', async () => {
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

  it("of a thread and a range narrow Locks and Errors to the Answer's number and to what Events lists", async () => {
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
    // and those of the worker that does its storage, which the thread waits for
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
      return `${some(events, 'failed call')} seen by your app, ${count(handled)} handled`;
    };
    const failing = failedCallsIn(facts, {}).groups[0]!.events[0]!;
    await show(`#tab=errors&filter.thread=${failing.thread}`);
    await says(id('error-count'), failures({ thread: failing.thread }));
    // halves of the recording, one of which has fewer
    const [from, to] = store.extent();
    const half = Math.round((from + to) / 2);
    const halves = [
      { fromUs: Math.floor(from), toUs: half },
      { fromUs: half, toUs: Math.ceil(to) },
    ];
    for (const range of halves) {
      await show(`#tab=errors&filter.range=1&from=${range.fromUs}&to=${range.toUs}`);
      await says(id('error-count'), failures(range));
      await waitFor(`${id('errors-view')} ${id('range-strip')}`);
    }
    expect(halves.map(failures)).not.toEqual([failures({}), failures({})]);
    expect(await page.$eval(id('range-chip'), (e) => e.getAttribute('aria-pressed'))).toBe('true');
  });

  it('of a thread and a statement apply to the timeline: only its tracks, and all runs marked', async () => {
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

  it("of a range narrow the checkpoints, and the log's totals are marked as those of the entire recording", async () => {
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
    await says(id('checkpoint-count'), `${within} of ${all.length} checkpoints`);
    await click(`${id('wal-view')} ${id('in-view')}`);
    await says(id('checkpoint-count'), `${all.length} checkpoints`);
    expect(await rowsOf('checkpoints')).toBe(all.length);
  });

  it('of a thread select only its statements, transactions, and events', async () => {
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
  it('filters every view that can apply it, with one switch and one chip', async () => {
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

describe("the timeline's range, in the Answer and in Files", () => {
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

  it('narrows the sentence, its bar, and the times of threads, and the strip shows its place', async () => {
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
    // the actions and numbers below are for the entire recording
    const marked = (): Promise<string[]> =>
      page.$$eval(id('entire'), (all) =>
        all.map((e) => e.parentElement!.textContent!.replace(/\s+/g, ' ').trim()),
      );
    expect(await marked()).toEqual([
      expect.stringMatching(/^Recording cost your app about /),
      expect.stringMatching(/^What to do/),
      'Numbers Entire recording',
    ]);
    await click(id('range-chip'));
    await says(id('answer'), whole.text);
  });

  it('narrows the tree of Files; the use of the selected file is for the entire recording, and marked', async () => {
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
