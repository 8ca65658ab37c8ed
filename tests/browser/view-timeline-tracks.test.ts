// The timeline's tracks: runs of the statement under the pointer, evidence of a finding, time without its pauses.
import { expect, it } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { executions } from '../../src/analysis/core/executions.ts';
import { longPauses } from '../../src/viewer/session/queries/time-strips.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { id, viewHarness } from './view-harness.ts';

const [STORM, PAUSES] = ['checkpoint-storm', 'cache-thrash'];
const panel = viewHarness([STORM, PAUSES]);
const data = (name: string): Promise<number> =>
  panel.page.$eval(id('timeline'), (e, n) => Number((e as HTMLElement).dataset[n]), name);
const painted = (): Promise<unknown> =>
  panel.waitFor(`${id('timeline')}[data-frame]:not([data-waiting])`);

it('marks all runs of the selected statement', async () => {
  const store = await panel.open(STORM, 'timeline');
  await painted();
  const thread = store.threads.find(({ events }) => events.count > 100)!;
  const runs = new Facts(store).get(executions).of(thread);
  const counts = new Map<number, number>();
  for (let i = 0; i < runs.count; i++) {
    const text = runs.text[i]!;
    if (text) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const [text, count] = [...counts].sort((a, b) => b[1] - a[1])[0]!;
  const first = runs.text.indexOf(text);
  const seq = thread.events.seq[runs.firstRow[first]!]!;
  await panel.page.evaluate(
    (to: string) => void (location.hash = to),
    `#tab=timeline&event=${thread.index}:${seq}`,
  );
  await panel.waitFor(id('details'));
  await expect.poll(() => data('marks')).toBe(count);
});

it('draws all events of a finding as a track, and zooms to the statement of the current one', async () => {
  await panel.open(STORM, 'answer');
  await panel.waitFor(id('finding-show'));
  await panel.click(id('finding-show'));
  await panel.waitFor(id('evidence-track'));
  const title = await panel.page.$eval(`${id('evidence')} .title`, (e) => e.textContent);
  expect(await panel.page.$eval(id('evidence-track'), (e) => e.textContent.trim())).toBe(title);
  const shown = await panel.page.$eval(id('evidence-at'), (e) => e.textContent);
  expect(shown).toBe(`1 of ${(await data('evidence')).toLocaleString('en-US')}`);
  await panel.waitFor(id('details'));
  const span = (await data('to')) - (await data('from'));
  const extent = panel.store(STORM).extent();
  expect(span).toBeLessThan((extent[1] - extent[0]) / 4);
  await panel.click(id('evidence-close'));
  await panel.page.waitForSelector(id('evidence-track'), { hidden: true });
});

it('leaves out long pauses on request, and shows real times', async () => {
  const store = await panel.open(PAUSES, 'timeline');
  await painted();
  const pauses = longPauses(new Facts(store));
  expect(pauses.length).toBeGreaterThan(0);
  await panel.waitFor(id('io-map'));
  await panel.click(id('skip-idle'));
  await expect.poll(() => data('pauses')).toBe(pauses.length);
  await painted();
  expect(await panel.page.$(id('io-map'))).toBeNull();
  const { x, y, width } = (await (await panel.page.$(id('timeline')))!.boundingBox())!;
  const view = { from: await data('from'), to: await data('to') };
  const momentAt = async (px: number): Promise<number> => {
    await panel.page.mouse.move(x + px, y + 60);
    await panel.page.mouse.move(x + px, y + 8);
    await panel.waitFor(id('moment'));
    return panel.page.$eval(id('moment'), (e) => parseFloat(e.textContent) * 1e6);
  };
  expect(await momentAt(20)).toBeLessThan(pauses[0]!.from);
  expect(await momentAt(width - 20)).toBeGreaterThan(pauses.at(-1)!.to);
  await panel.click(id('skip-idle'));
  await expect.poll(() => data('pauses')).toBe(0);
  await panel.waitFor(id('io-map'));
  expect({ from: await data('from'), to: await data('to') }).toEqual(view);
});

it('two engines of one package have different names in the narrowest panel', async () => {
  const b = new ThreadBuilder(newStore());
  const layers = { vfs: true, sql: true, counters: true };
  for (const context of [1, 2]) {
    const engine = b.define({
      kind: 'engine',
      name: '@journeyapps/wa-sqlite',
      sqliteVersion: null,
      sourceId: null,
      note: null,
      suspension: 'none',
      layers,
    });
    b.call('sqlMemory', { context, object: engine, offset: context * 2 ** 24, length: 4096 });
  }
  b.send();
  const bytes = Buffer.from(await (await saveTrace(b.store)).arrayBuffer()).toString('base64');
  await panel.page.setViewport({ width: 400, height: 850 });
  await panel.load(STORM);
  await panel.page.evaluate(async (base64: string) => {
    const file = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    await window.panel.viewer.open(new Blob([file]), 'engines.vfst');
  }, bytes);
  await panel.page.$eval(id('tab-timeline'), (tab) => (tab as HTMLElement).click());
  await panel.waitFor('.lane-box:has([data-testid="buttons-0:memory2"])');
  const seen = await panel.page.$$eval('.lane-box .engine', (all) =>
    all.map((e) => {
      const name = e.firstElementChild!.getBoundingClientRect();
      return { text: e.textContent, end: name.right <= e.getBoundingClientRect().right + 1 };
    }),
  );
  expect(seen).toEqual([
    { text: '@journeyapps/wa-sqlite', end: true },
    { text: '@journeyapps/wa-sqlite 2', end: true },
  ]);
});
