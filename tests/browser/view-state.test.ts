// What is set in the views stays: over other tabs, in the address, over a reload. And no view waits for an answer that got lost.
import { describe, expect, it } from 'vitest';
import { statementTable } from '../../src/trace/analysis/statement-table.ts';
import { Op } from '../../src/trace/event.ts';
import { id, viewHarness } from './view-harness.ts';

const TRACE = 'checkpoint-storm';
const panel = viewHarness([TRACE]);
const some = (n: number): string => `${n.toLocaleString('en-US')} event${n === 1 ? '' : 's'}`;
const reads = (): number =>
  panel.store(TRACE).threads.reduce((n, { events }) => n + events.op.subarray(0, events.count).filter((op) => op === Op.xRead).length, 0);
const hash = (): Promise<string> => panel.page.evaluate(() => decodeURIComponent(location.hash));

describe('the address', () => {
  it('holds the filters of Events, and a reload shows them again', async () => {
    const { page } = panel;
    await panel.load(TRACE, '#tab=events&events.layers=vfs&events.more=1&events.op=xRead');
    await panel.waitText(id('event-count'), some(reads()));
    await page.waitForFunction((s: string) => document.querySelector<HTMLSelectElement>(s)?.value === 'xRead', {}, id('where-op'));
    await page.type(id('filter'), 'no such thing');
    await panel.waitText(id('event-count'), '0 events');
    await page.waitForFunction(() => location.hash.includes('events.filter=no'));
    await page.reload();
    await panel.waitText(id('event-count'), '0 events');
    expect(await page.$eval(id('filter'), (e) => (e as HTMLInputElement).value)).toBe('no such thing');
    // one step back to all of them
    await page.$$eval('[aria-label="Events"] p button', (all) => (all[0] as HTMLElement).click());
    await panel.waitText(id('event-count'), some(panel.store(TRACE).eventCount));
    await page.waitForFunction(() => !/events\.(filter|op|layers)/.test(location.hash));
  });

  it('holds what is chosen and sorted in a table, also over another tab', async () => {
    const { page } = panel;
    await panel.open(TRACE, 'statements');
    await panel.waitFor(id('statements-row'));
    await panel.click(id('sort-executions'));
    await panel.click(id('statements-row'));
    const chosen = await page.$eval(`${id('statements')} [aria-selected=true]`, (row) => row.getAttribute('data-key')!);
    await page.waitForFunction(() => location.hash.includes('statements.chosen'));
    expect(await hash()).toContain('statements.sort=executions');
    await panel.click(id('tab-wal'));
    await panel.waitFor(id('wal-chart'));
    await panel.click(id('tab-statements'));
    await panel.waitFor(`${id('statements')} [aria-selected=true]`);
    await page.waitForFunction(() => location.hash.includes('tab=statements')); // a burst of changes is written once
    await page.reload();
    await panel.waitFor(`${id('statements')} [aria-selected=true]`);
    expect(await page.$eval(`${id('statements')} [aria-selected=true]`, (row) => row.getAttribute('data-key')!)).toBe(chosen);
    expect(await page.$eval(`${id('sort-executions')}`, (b) => b.parentElement!.getAttribute('aria-sort'))).toBe('descending');
  });

  it('that makes no sense shows everything', async () => {
    await panel.load(TRACE, '#tab=events&events.layers=nonsense,sql,vfs,web,host&events.thread=x&events.more=1&timeline.area=5,,&a.b.c=1');
    await panel.waitText(id('event-count'), some(panel.store(TRACE).eventCount));
  });
});

describe('answers that come late', () => {
  it('are not lost while tabs change and the trace is told of', async () => {
    const { page } = panel;
    // every message to and from the store's worker is under way for a while, longer or shorter, in its order
    await page.evaluateOnNewDocument(() => {
      const Real = Worker;
      let n = 0;
      const late = (before: Promise<void>): Promise<void> => before.then(() => new Promise((done) => setTimeout(done, (n++ * 37) % 130)));
      window.Worker = class extends Real {
        private there = Promise.resolve();
        private back = Promise.resolve();
        override postMessage(message: unknown, transfer?: Transferable[] | StructuredSerializeOptions): void {
          this.there = late(this.there).then(() => super.postMessage(message, transfer as Transferable[]));
        }
        override addEventListener(type: string, listener: EventListenerOrEventListenerObject): void {
          const hear = (event: Event): void => (typeof listener === 'function' ? listener(event) : listener.handleEvent(event));
          const heard = (event: Event): void => void (this.back = late(this.back).then(() => hear(event)));
          super.addEventListener(type, type === 'message' ? heard : listener);
        }
      };
    });
    const table = statementTable(panel.store(TRACE))!;
    await panel.load(TRACE);
    for (const tab of ['statements', 'transactions', 'statements', 'locks', 'wal', 'statements']) await panel.click(id(`tab-${tab}`));
    await page.waitForFunction(
      (s: string, rows: string) => document.querySelector(s)?.getAttribute('aria-rowcount') === rows,
      {},
      id('statements'),
      String(table.rows.length + 1),
    );
  });
});
