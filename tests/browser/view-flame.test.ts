// The flame graph: statements, their VFS calls and storage calls, with the same times as in
// Statements.
import { describe, expect, it } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { flameGraph, type FlameGraph } from '../../src/analysis/statements/flame-graph.ts';
import { formatDuration } from '../../src/text/numbers.ts';
import { transactionAnatomies } from '../traces/analyses.ts';
import { id, viewHarness } from './view-harness.ts';

const viewer = viewHarness(['checkpoint-storm', 'idb-batch-atomic']);
const { open, waitFor, waitText, click } = viewer;
const FRAME = id('flame-frame');

const rootsOf = ({ frames }: FlameGraph) => frames.filter(({ parent }) => parent < 0);
const labels = (): Promise<string[]> =>
  viewer.page.$$eval(FRAME, (all) => all.map((frame) => frame.getAttribute('aria-label')!));
const focused = (): Promise<string> =>
  viewer.page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '');
describe('flame graph', () => {
  it('shows statements and the calls in them, and zooms by mouse and keys', async () => {
    const graph = flameGraph(new Facts(await open('checkpoint-storm', 'flame')), {})!;
    await waitFor(FRAME);
    await waitFor(`${id('flame-total')}`);
    const roots = rootsOf(graph);
    expect(await viewer.page.$eval(id('flame-total'), (e) => e.textContent.trim())).toBe(
      `${roots.length} statements, ${formatDuration(graph.totalUs)} while SQL runs`,
    );
    const widest = roots[0]!;
    const inWidest = graph.frames.filter(({ parent }) => graph.frames[parent] === widest);
    expect((await labels())[0]).toContain(`${widest.sql ?? widest.name}: `);
    // down to its widest call, zoomed, and back
    await viewer.page.focus(FRAME);
    await viewer.page.keyboard.press('ArrowDown');
    expect(await focused()).toContain(`${inWidest[0]!.name}: `);
    await viewer.page.keyboard.press('ArrowRight');
    expect(await focused()).toContain(`${inWidest[1]!.name}: `);
    await viewer.page.keyboard.press('ArrowLeft');
    await viewer.page.keyboard.press('Enter');
    await viewer.page.waitForFunction(
      (s: string) => document.querySelectorAll(s).length === 2,
      {},
      id('flame-path'),
    );
    const zoomed = await viewer.page.$$eval(FRAME, (all) => all.map((e) => e.clientWidth));
    expect(zoomed[1]).toBe(zoomed[0]);
    await viewer.page.keyboard.press('Escape');
    await viewer.page.keyboard.press('Escape');
    await viewer.page.waitForFunction(
      (s: string) => document.querySelector(s) === null,
      {},
      id('flame-path'),
    );
  });

  it('lists the frames in a table that expands', async () => {
    const graph = flameGraph(new Facts(await open('checkpoint-storm', 'flame')), {})!;
    await waitFor(id('flame-row'));
    const roots = rootsOf(graph);
    expect(await viewer.page.$$eval(id('flame-row'), (rows) => rows.length)).toBe(roots.length);
    await viewer.page.focus(id('flame'));
    await viewer.page.keyboard.press('ArrowDown');
    await viewer.page.keyboard.press('ArrowRight');
    const below = graph.frames.filter(({ parent }) => graph.frames[parent] === roots[0]);
    await viewer.page.waitForFunction(
      (s: string, n: number) => document.querySelectorAll(s).length === n,
      {},
      `${id('flame-row')}[aria-level="2"]`,
      below.length,
    );
    await waitText(
      `${id('flame-row')} [data-column=total]`,
      formatDuration(Math.max(...roots.map(({ totalUs }) => totalUs))),
    );
  });

  it('is inverted, and links to the statement', async () => {
    const graph = flameGraph(new Facts(await open('idb-batch-atomic', 'flame')), {}, true)!;
    await waitFor(FRAME);
    // a call has its color on the timeline, whatever most of its time was
    for (const [call, part] of [
      ['xSync', 'sync'],
      ['xLock', 'lock'],
      ['idb.put', 'write'],
    ])
      await waitFor(`${FRAME}[aria-label^="${call}"][style*="--activity-${part})"]`);
    await viewer.page.select(id('flame-from'), 'calls');
    await viewer.page.waitForFunction(
      (s: string, name: string) =>
        document.querySelector(s)?.getAttribute('aria-label')?.startsWith(name),
      {},
      FRAME,
      `${graph.frames[0]!.name}: `,
    );
    await viewer.page.select(id('flame-from'), 'statements');
    await viewer.page.waitForFunction(
      (s: string, name: string) =>
        !document.querySelector(s)?.getAttribute('aria-label')?.startsWith(name),
      {},
      FRAME,
      `${graph.frames[0]!.name}: `,
    );
    await click(FRAME);
    await click(id('flame-statement'));
    await waitFor(id('statement-details'));
  });

  it('shows one transaction', async () => {
    await open('checkpoint-storm', 'transactions');
    await waitFor(id('transactions-row'));
    await click(id('transactions-row'));
    await waitFor(id('transaction-flames'));
    await click(id('transaction-flames'));
    await waitFor(`${id('tab-flame')}[aria-selected=true]`);
    await waitFor(id('thread-chip'));
    await waitFor(id('range-chip'));
    await waitFor(FRAME);
    const anatomy = transactionAnatomies(viewer.store('checkpoint-storm')).sort(
      (a, b) => b.toUs - b.fromUs - (a.toUs - a.fromUs),
    )[0]!;
    const { thread } = anatomy.transaction;
    const range = { fromUs: anatomy.fromUs, toUs: anatomy.toUs };
    const graph = flameGraph(new Facts(viewer.store('checkpoint-storm')), { ...range, thread })!;
    expect(graph.totalUs).toBeGreaterThan(0);
    await viewer.page.waitForFunction(
      (s: string, wanted: string) => document.querySelector(s)?.textContent?.includes(wanted),
      {},
      id('flame-total'),
      `${formatDuration(graph.totalUs)} while SQL runs`,
    );
    // its statement passes the filters, so they stay
    await click(FRAME);
    await waitFor(id('flame-statement'));
    await click(id('flame-statement'));
    await waitFor(`${id('tab-statements')}[aria-selected=true]`);
    await waitFor(id('statement-details'));
    await waitFor(id('thread-chip'));
    await waitFor(id('range-chip'));
  });
});
