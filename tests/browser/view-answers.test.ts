// A view always shows the answer about its current subject, never one about the previous subject or
// trace; a selection stays.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { id, ViewerPage } from './viewer-page.ts';
import { wireOf } from './worker-wire.ts';
import { headlineOf, locksOf } from '../traces/analyses.ts';

const TABS = join(import.meta.dirname, '..', 'traces', 'golden', 'idb-two-tabs.vfst');
const ORIGINS = ['https://one.example', 'https://two.example'];

/** Two statements, each in transactions of its own on a database of its own; a page of two origins. */
function trace(runs: number): TraceStore {
  const store = newStore();
  const t = new ThreadBuilder(store, { name: 'db' });
  for (const origin of ORIGINS)
    t.say({
      kind: 'storage',
      id: 0,
      when: 'start',
      origin,
      quota: 1000,
      usage: 10,
      persisted: false,
    } as Parameters<typeof t.say>[0]);
  for (const [path, text] of [
    ['/a.db', 'INSERT INTO a VALUES (?)'],
    ['/b.db', 'UPDATE b SET x = ?'],
  ] as const) {
    const db = t.file(path);
    const statement = t.define({ kind: 'sql', text });
    for (let i = 0; i < runs; i++) {
      t.call('sqlStep', { object: statement, context: 1, aux: i + 1, result: 101, dur: 10 }, () => {
        t.call('xLock', { object: db, context: 1, aux: 1, dur: 5 });
        t.call('xRead', { object: db, context: 1, offset: 4096, length: 4096, dur: 50 });
        t.call('xLock', { object: db, context: 1, aux: 2, dur: 5 });
        t.call('xWrite', { object: db, context: 1, offset: 4096, length: 4096, dur: 10 });
        t.call('xSync', { object: db, context: 1, dur: 400 });
        t.call('xUnlock', { object: db, context: 1, aux: 0, dur: 5 });
      });
      t.idle(2000);
    }
  }
  t.send();
  return store;
}
const file = async (store: TraceStore): Promise<Uint8Array> =>
  new Uint8Array(await (await saveTrace(store)).arrayBuffer());
const viewer = new ViewerPage(async () => ({
  'a.vfst': await file(trace(12)),
  'b.vfst': await file(trace(4)),
  'tabs.vfst': readFileSync(TABS),
}));
const open = async (name: string, hash: string): Promise<void> => {
  await viewer.open(`open=/traces/${name}${hash}`);
  await viewer.page.waitForSelector(id('file-name'));
};
const isThere = (selector: string): Promise<unknown> => viewer.page.waitForSelector(selector);
const isGone = (selector: string): Promise<unknown> =>
  viewer.page.waitForSelector(selector, { hidden: true });
const click = async (selector: string): Promise<void> => {
  await isThere(selector);
  await viewer.page.$eval(selector, (e) => (e as HTMLElement).click());
};
const says = (selector: string, words: string): Promise<unknown> =>
  viewer.page.waitForFunction(
    (s: string, w: string) => document.querySelector(s)?.textContent?.includes(w),
    {},
    selector,
    words,
  );
const row = (table: string, words: string): string =>
  `::-p-xpath(//*[@data-testid="${table}-row"][contains(., "${words}")])`;

it('recording details name each of several origins', async () => {
  await open('a.vfst', '#tab=answer');
  await isThere(id('fold-details'));
  await click(id('fold-details'));
  await isThere(id('recorded'));
  const labels = await viewer.page.$$eval(`${id('recorded')} dt`, (all) =>
    all.map((e) => e.textContent),
  );
  for (const origin of ORIGINS)
    expect(labels).toEqual(expect.arrayContaining([`Storage, ${origin}`, `Persisted, ${origin}`]));
});

describe('an answer about another thing is not shown', () => {
  it('runs of the statement before; why there are none is said', async () => {
    await open('a.vfst', '#tab=statements');
    const wire = await wireOf(viewer.page);
    await (await viewer.page.waitForSelector(row('statements', 'INSERT')))!.click();
    await isThere(id('statement-runs'));
    await wire.fail('statementRuns', 'The runs are lost.');
    await wire.hold('statementRuns');
    await (await viewer.page.waitForSelector(row('statements', 'UPDATE')))!.click();
    await says(id('statement-text'), 'UPDATE');
    expect(await viewer.page.$(id('statement-runs'))).toBeNull();
    await wire.release('statementRuns');
    await says(`${id('statement-details')} [role=alert]`, 'The runs are lost.');
  });

  it('pages of the file before', async () => {
    await open('a.vfst', '#tab=files&pages.list=pages');
    const wire = await wireOf(viewer.page);
    await isThere(id('pages-row'));
    await wire.hold('pageTable');
    await click(`${id('file-row')}[aria-selected=false]`);
    await isGone(id('pages-row'));
    await wire.release('pageTable');
    await isThere(id('pages-row'));
  });

  it('calls of the transaction before', async () => {
    await open('a.vfst', '#tab=transactions');
    const wire = await wireOf(viewer.page);
    await click(id('transactions-row'));
    await isThere(id('waterfall'));
    await wire.hold('transaction');
    await click(`${id('transactions-row')}:nth-child(2)`);
    await isGone(id('waterfall'));
  });

  it('who held the lock that another event waited for', async () => {
    const { store } = await readTrace(readFileSync(TABS));
    const { edges, waits } = locksOf(store);
    const edge = [...edges].find((e) => e.waiter !== e.holder)!;
    const asked = store.threads[edge.waiter]!.ref(waits.row[edge.wait]!);
    await open('tabs.vfst', `#tab=timeline&event=${asked.thread}:${asked.seq}`);
    const wire = await wireOf(viewer.page);
    await isThere(id('holder'));
    const begin = await viewer.text(id('field-begin'));
    await wire.hold('timelineFlows');
    await viewer.page.keyboard.press('.');
    await viewer.page.waitForFunction(
      (s: string, b: string) => document.querySelector(s)?.textContent?.trim() !== b,
      {},
      id('field-begin'),
      begin,
    );
    expect(await viewer.page.$(id('holder'))).toBeNull();
  });

  it('numbers of the trace that was B before', async () => {
    await open('a.vfst', '#tab=compare');
    const wire = await wireOf(viewer.page);
    const compare = (name: string): Promise<void> =>
      viewer.page.$eval(
        id('compare-input'),
        async (e, n) => {
          const files = new DataTransfer();
          files.items.add(new File([await (await fetch(`/traces/${n}`)).blob()], n));
          (e as HTMLInputElement).files = files.files;
          e.dispatchEvent(new Event('change', { bubbles: true }));
        },
        name,
      );
    await compare('b.vfst');
    await isThere(id('compare-headline'));
    await wire.hold('comparison');
    await compare('tabs.vfst');
    await viewer.waitText(id('compare-name'), 'tabs.vfst');
    expect(await viewer.page.$(id('compare-headline'))).toBeNull();
  });

  it('but of an area that is drawn the one before, as its own share', async () => {
    await open('a.vfst', '#tab=timeline');
    const wire = await wireOf(viewer.page);
    await isThere(`${id('timeline')}[data-frame]`);
    await viewer.page.keyboard.press('r');
    await isThere(id('area-times'));
    const share = await viewer.text(`${id('area-times')} .subtle`);
    expect(share).toMatch(/^While SQL runs [\d.]+ %$/);
    const span = await viewer.text(id('area-span'));
    await wire.hold('timelineArea');
    for (let i = 0; i < 4; i++) await viewer.page.keyboard.press('w');
    await viewer.page.keyboard.press('r');
    await viewer.page.waitForFunction(
      (s: string, b: string) => document.querySelector(s)?.textContent !== b,
      {},
      id('area-span'),
      span,
    );
    expect(await viewer.text(`${id('area-times')} .subtle`)).toBe(share);
  });
});

it('another trace is asked about at once, and the answer to the one before is gone', async () => {
  await open('a.vfst', '#tab=events');
  const wire = await wireOf(viewer.page);
  // an answer that took an hour: it is not asked for again within three
  await wire.hold('headline');
  await click(id('tab-answer'));
  await wire.asked('headline', 1);
  await viewer.page.evaluate(() => {
    const now = performance.now.bind(performance);
    performance.now = () => now() + 3_600_000;
  });
  await wire.release('headline');
  await viewer.waitText(id('answer'), headlineOf(trace(12)).text);
  await wire.hold('headline');
  await viewer.page.evaluate(async () => {
    await window.panel.viewer.open(await (await fetch('/traces/b.vfst')).blob(), 'b.vfst');
  });
  await isGone(id('answer'));
  await wire.release('headline');
  await viewer.waitText(id('answer'), headlineOf(trace(4)).text);
});

describe('a choice stays', () => {
  it('a transaction, over an event that is selected elsewhere, until another event is', async () => {
    await open('a.vfst', '#tab=events');
    await click(id('event-row'));
    await isThere(id('details'));
    await click(id('tab-statements')); // it shows no events: the details take no room there
    await isThere(id('statements'));
    await isGone(id('details'));
    await click(id('tab-transactions'));
    await isThere(id('details'));
    const chosen = `${id('transactions-row')}[aria-selected=true]`;
    await isThere(chosen);
    const first = await viewer.page.$eval(chosen, (e) => (e as HTMLElement).dataset.key!);
    await click(`${id('transactions-row')}:nth-child(5)`);
    await isThere(`${id('transactions-row')}:nth-child(5)[aria-selected=true]`);
    const picked = await viewer.page.$eval(chosen, (e) => (e as HTMLElement).dataset.key!);
    expect(picked).not.toBe(first);
    const wire = await wireOf(viewer.page);
    await click(id('tab-wal'));
    await isGone(id('transactions'));
    await click(id('tab-transactions'));
    await wire.asked('transactionOf', 1);
    await isThere(id('waterfall'));
    await viewer.page.evaluate(() => window.panel.viewer.copy().then(() => undefined)); // all that was asked is answered
    expect(await viewer.page.$eval(chosen, (e) => (e as HTMLElement).dataset.key!)).toBe(picked);
    await viewer.page.waitForFunction(
      (key: string) => decodeURIComponent(location.hash).includes(`transactions.chosen=${key}`),
      {},
      picked,
    );
    await viewer.page.reload();
    await isThere(id('waterfall'));
    await isThere(id('details'));
    expect(await viewer.page.$eval(chosen, (e) => (e as HTMLElement).dataset.key!)).toBe(picked);
    await click(id('tab-events'));
    await click(`${id('event-row')}:nth-child(2)`);
    await click(id('tab-transactions'));
    await isThere(`${id('transactions-row')}[data-key="${first}"][aria-selected=true]`);
  });
});
