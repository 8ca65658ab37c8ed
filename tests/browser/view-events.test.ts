// The Events view: its first rows, sorting by duration and by time, and rows that explain their
// numbers.
import { expect, it } from 'vitest';
import { Op } from '../../src/event/event.ts';
import { IS_OWN, opName } from '../../src/event/operations.ts';
import { formatCount } from '../../src/text/numbers.ts';
import { shownEvents } from './shown-events.ts';
import { id, viewHarness } from './view-harness.ts';

const TRACE = 'idb-batch-atomic';
const panel = viewHarness([TRACE]);
const { open, click, waitFor, waitText } = panel;
const cells = (column: string): Promise<string[]> =>
  panel.page.$$eval(`${id('event-row')} [data-column="${column}"]`, (all) =>
    all.map((e) => e.textContent!.trim()),
  );
const untilFirst = (column: string, wanted: string): Promise<unknown> =>
  waitText(`${id('event-row')}[aria-rowindex="2"] [data-column="${column}"]`, wanted);

it("begins with the page's calls, and a chip counts vfscope's own rows and shows them", async () => {
  const store = await open(TRACE, 'events');
  const own = store.eventCount - shownEvents(store.threads);
  expect(own).toBeGreaterThan(0);
  await waitText(id('event-count'), `${formatCount(shownEvents(store.threads))} events`);
  await waitText(id('own-rows'), `vfscope (${formatCount(own)})`);
  await waitFor(id('event-row'));
  const names = await cells('call');
  expect(names.filter((name) => /^(tracer|threadStart|threadEnd)/.test(name))).toEqual([]);
  await click(id('own-rows'));
  await waitText(id('event-count'), `${formatCount(store.eventCount)} events`);
  await waitFor(`${id('own-rows')}[aria-pressed=true]`);
});

it('sorts by duration and by time again, and keeps the order in the address', async () => {
  const store = await open(TRACE, 'events');
  const durations = store.threads.flatMap(({ events }) =>
    Array.from({ length: events.count }, (_, row) => row)
      .filter((row) => events.endSeq[row] !== 0 && !IS_OWN[events.op[row]!])
      .map((row) => events.dur[row]!),
  );
  await click(id('sort-duration'));
  await waitFor('[data-heading=duration][aria-sort=descending]');
  const longest = Math.max(...durations);
  await panel.page.waitForFunction(
    (s: string, us: number) => {
      const [n, unit] = (document.querySelector(s)?.textContent ?? '').trim().split(' ');
      const scale = { ns: 1e-3, µs: 1, ms: 1e3, s: 1e6 }[unit ?? ''] ?? NaN;
      return Math.abs(Number(n) * scale - us) < us / 100;
    },
    {},
    `${id('event-row')}[aria-rowindex="2"] [data-column="duration"]`,
    longest,
  );
  await panel.page.waitForFunction(() =>
    location.hash.includes('events.sort=duration&events.descending=1'),
  );
  await click(id('sort-time'));
  await waitFor('[data-heading=time][aria-sort=ascending]');
  const first = (await cells('time'))[0]!;
  await click(id('sort-time'));
  await waitFor('[data-heading=time][aria-sort=descending]');
  await panel.page.waitForFunction(
    (s: string, was: string) => document.querySelector(s)?.textContent?.trim() !== was,
    {},
    `${id('event-row')}[aria-rowindex="2"] [data-column="time"]`,
    first,
  );
});

it('opens the row that was double-clicked, even if its details received the second click', async () => {
  const store = await open(TRACE, 'events', 900);
  const row = `${id('event-row')}[aria-rowindex="8"]`;
  await waitFor(row);
  const box = (await (await panel.page.$(row))!.boundingBox())!;
  const [x, y] = [box.x + box.width - 30, box.y + 8];
  const [thread, seq] = (await panel.page.$eval(row, (e) => e.getAttribute('data-key')!)).split(
    ':',
  );
  const { events } = store.threads[Number(thread)]!;
  // a double click is at most 500 ms long, on a slow machine, too
  await panel.page.evaluate(() => {
    const later = window.setTimeout.bind(window);
    window.setTimeout = ((run: () => void, ms?: number) =>
      later(run, ms === 500 ? 20_000 : ms)) as typeof setTimeout;
  });
  await panel.page.mouse.click(x, y);
  await waitFor(id('details-name'));
  expect(
    await panel.page.evaluate(
      (left, top) => document.elementFromPoint(left, top)?.closest('[data-testid=event]') ?? null,
      x,
      y,
    ),
  ).toBeNull();
  await panel.page.mouse.click(x, y);
  await waitFor(`${id('tab-timeline')}[aria-selected=true]`);
  await waitText(id('details-name'), opName(events.op[events.rowOfSeq(Number(seq))]!));
});

it('decodes bit sets, lock levels, counters, and keys in the row', async () => {
  const store = await open(TRACE, 'events', 1400);
  await waitFor(id('event-row'));
  const only = async (op: string): Promise<void> => {
    await panel.load(TRACE, `#tab=events&events.more=1&events.op=${op}`);
    await waitFor(id('event-row'));
  };
  await only('xDeviceCharacteristics');
  await untilFirst('result', 'UNDELETABLE_WHEN_OPEN | BATCH_ATOMIC');
  await only('xLock');
  await untilFirst('detail', 'SHARED');
  await only('sqlite3_counters');
  await untilFirst('call', 'sqlite3_counters');
  expect((await cells('offset')).every((text) => text === '')).toBe(true);
  expect((await cells('detail'))[0]).toMatch(/^hits \d+, misses \d+/);
  await only('idb.get');
  await untilFirst('call', 'idb.get');
  expect((await cells('offset')).every((text) => text === '')).toBe(true);
  expect((await cells('detail')).some((text) => /^key -?[\d,]+$/.test(text))).toBe(true);
  expect(store.threads.some(({ events }) => events.op.includes(Op.idbGet))).toBe(true);
  // if the column doesn't fit, the detail follows the call
  await panel.page.setViewport({ width: 400, height: 700 });
  await only('xLock');
  await untilFirst('call', 'xLockSHARED');
});
