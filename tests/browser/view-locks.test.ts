// Locks in the panel: holds and waits on their tracks, which thread waited for which, and the
// visible range.
import type { Page } from 'puppeteer-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { id, viewHarness } from './view-harness.ts';
import { locksOf } from '../traces/analyses.ts';
import { readingOf } from './view-reading.ts';

const panel = viewHarness(['opfs-wl-two-tabs', 'memory-delete', 'opfs-coop-sync']);
const { open, waitFor, waitText, click } = panel;
const { rowsOf, fill } = readingOf(panel);
let page: Page;
beforeEach(() => void (page = panel.page));

describe('locks', () => {
  it('every hold and wait is drawn, and a wait is marked on the tracks and links to its event', async () => {
    const locks = locksOf(await open('opfs-wl-two-tabs', 'locks'));
    await waitFor(id('wait-matrix')); // first, if threads waited for each other
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

  it('shows which thread waits for which, first as a matrix and a table, and filters by kind and thread', async () => {
    const locks = locksOf(await open('opfs-wl-two-tabs', 'locks', 420));
    const others = locks.edges.filter((e) => e.waiter !== e.holder);
    const pairs = new Set(others.map((e) => `${e.waiter}:${e.holder}`));
    /** Waits with an unrecorded holder have their own column. */
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

  it("collapses a VFS's own access handles into one track that expands", async () => {
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

  it('shows the range of the tracks, and narrows the tables to it on demand; a wheel zooms as on the timeline', async () => {
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

  it('reports that there is nothing', async () => {
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
