// From an event to the cause of its wait, screen reader announcements, two traces over time, and
// views restored from the address.
import { join } from 'node:path';
import type { ElementHandle } from 'puppeteer-core';
import { describe, expect, it } from 'vitest';
import { Op } from '../../src/event/event.ts';
import { id, viewHarness } from './view-harness.ts';
import { locksOf } from '../traces/analyses.ts';

const GOLDEN = join(import.meta.dirname, '..', 'traces', 'golden');
const panel = viewHarness(['opfs-coop-sync', 'idb-two-tabs']);

it('a call that waited names the thread that delayed it, and links to the call that took the lock', async () => {
  const store = panel.store('idb-two-tabs');
  const { edges, waits, holds } = locksOf(store);
  const edge = [...edges]
    .filter((e) => e.waiter !== e.holder)
    .sort((a, b) => b.toUs - b.fromUs - (a.toUs - a.fromUs))[0]!;
  const { seq } = store.threads[edge.waiter]!.ref(waits.row[edge.wait]!);
  await panel.page.setViewport({ width: 1200, height: 700 });
  await panel.load('idb-two-tabs', `#tab=events&event=${edge.waiter}:${seq}`);
  await panel.waitFor(id('holder'));
  await panel.click(id('holder'));
  const { thread, events } = { thread: edge.holder, events: store.threads[edge.holder]!.events };
  await panel.waitText(
    id('field-begin'),
    `${(events.t0[holds.row[edge.firstHold]!]! / 1e6).toFixed(6)} s`,
  );
  expect(await panel.page.$eval(id('field-thread'), (e) => e.textContent)).toBe(
    `Page ${thread === 1 ? 1 : 2} · Worker worker.js`,
  );
});

describe('a screen reader announces', () => {
  it('the selection, and what the timeline shows once it stops moving', async () => {
    const store = await panel.open('opfs-coop-sync', 'events');
    const { events, row } = store.threads
      .map((thread) => ({ events: thread.events, row: thread.events.op.indexOf(Op.sqlOpen) }))
      .find((found) => found.row >= 0)!;
    const moment = `${(events.t0[row]! / 1e6).toFixed(6)} s`;
    await panel.page.type(id('filter'), 'sqlite3_open');
    await panel.waitText(`${id('event-row')} [data-column=time]`, moment);
    await panel.click(id('event-row'));
    await panel.page.waitForFunction(
      (s: string, at: string) => {
        const text = document.querySelector(s)?.textContent ?? '';
        return /^Selected: sqlite3_open.*, [\d.]+ .?s, at /.test(text) && text.includes(`at ${at}`);
      },
      {},
      id('announcer'),
      moment,
    );
    await panel.click(id('tab-timeline'));
    await panel.page.keyboard.press('f');
    await panel.page.waitForFunction(
      (s: string) =>
        /^Timeline shows [\d.]+ .?s from [\d.]+ s$/.test(
          document.querySelector(s)?.textContent ?? '',
        ),
      {},
      id('announcer'),
    );
    const seen = await panel.page.$eval(id('announcer'), (e) => [
      e.getBoundingClientRect().width,
      e.getAttribute('role'),
    ]);
    expect(seen).toEqual([1, 'status']);
  });
});

it('two traces are drawn over time on one scale, so the longer one is longer', async () => {
  await panel.open('opfs-coop-sync', 'compare', 1000);
  await panel.waitFor(id('compare-empty'));
  await ((await panel.page.$(id('compare-input'))) as ElementHandle<HTMLInputElement>).uploadFile(
    join(GOLDEN, 'idb-two-tabs.vfst'),
  );
  await panel.page.waitForFunction(
    (s: string) => Number(document.querySelector<HTMLElement>(s)?.dataset.us) > 0,
    {},
    id('compare-strip-b'),
  );
  /** Share of the strip's width up to its last column with content. */
  const filled = (side: 'a' | 'b'): Promise<{ us: number; share: number }> =>
    panel.page.$eval(id(`compare-strip-${side}`), (e) => {
      const canvas = e as HTMLCanvasElement;
      const { data, width, height } = canvas
        .getContext('2d')!
        .getImageData(0, 0, canvas.width, canvas.height);
      let last = 0;
      for (let x = 0; x < width; x++)
        for (let y = 0; y < height; y++) if (data[4 * (y * width + x) + 3]) last = x + 1;
      return { us: Number(canvas.dataset.us), share: last / width };
    });
  const both = { a: await filled('a'), b: await filled('b') };
  const [shorter, longer] = both.a.us < both.b.us ? (['a', 'b'] as const) : (['b', 'a'] as const);
  const ratio = both[shorter].us / both[longer].us;
  expect(ratio).toBeLessThan(0.97); // otherwise the pictures would look the same
  expect(both[longer].share).toBeGreaterThan(0.99);
  expect(Math.abs(both[shorter].share - ratio)).toBeLessThan(0.01);
  await panel.click(id('compare-scale'));
  await panel.page.waitForFunction(
    (s: string) => {
      const canvas = document.querySelector<HTMLCanvasElement>(s)!;
      const { data } = canvas
        .getContext('2d')!
        .getImageData(canvas.width - 20, canvas.height - 1, 19, 1);
      return data.some((value) => value > 0);
    },
    {},
    id(`compare-strip-${shorter}`),
  );
});

describe('the address restores', () => {
  it('the selected transaction, the table of locks, and how pages are shown', async () => {
    await panel.open('opfs-coop-sync', 'transactions', 1300);
    await panel.waitFor(`${id('transactions-row')}:nth-child(3)`);
    await panel.click(`${id('transactions-row')}:nth-child(3)`);
    await panel.waitFor(`${id('transactions-row')}[aria-selected=true]`);
    await panel.click(id('tab-locks'));
    await panel.waitFor(id('locks-busy'));
    await panel.click(id('locks-busy'));
    await panel.click(id('tab-files'));
    await panel.waitFor(id('page-map-shown'));
    await panel.page.select(id('page-map-shown'), 'writes');
    await panel.click(id('list-pages'));
    await panel.waitFor(`${id('pages')} ${id('sort-writes')}`);
    await panel.click(`${id('pages')} ${id('sort-writes')}`);
    await panel.page.waitForFunction(() =>
      ['transactions.chosen', 'locks.table=busy', 'pages.shown=writes', 'pages.sort=writes'].every(
        (s) => location.hash.includes(s),
      ),
    );
    await panel.page.reload();
    await panel.waitFor(id('page-map-shown'));
    expect(
      await panel.page.$eval(id('page-map-shown'), (e) => (e as HTMLSelectElement).value),
    ).toBe('writes');
    await panel.waitFor(`${id('pages')} [aria-sort=descending] ${id('sort-writes')}`);
    await panel.click(id('tab-locks'));
    await panel.waitFor(`${id('locks-busy')}[aria-selected=true]`);
    await panel.click(id('tab-transactions'));
    await panel.waitFor(`${id('transactions-row')}:nth-child(3)[aria-selected=true]`);
  });
});
