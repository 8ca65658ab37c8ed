// Views in panels of other shapes: numbers are visible, panes have a minimum size, axes have
// labels, names can be distinguished.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ElementHandle } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { goalSavings } from '../../src/analysis/cache/goal-saving.ts';
import { missRatios } from '../../src/analysis/cache/miss-ratio.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { countOf, formatDuration } from '../../src/text/numbers.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { id, viewHarness } from './view-harness.ts';

/** Folder for the tests' files. */
let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'vfscope-layout-'))));
afterAll(() => rm(folder, { recursive: true, force: true }));

const panel = viewHarness([
  'opfs-sahpool',
  'opfs-coop-sync',
  'idb-two-tabs',
  'cache-thrash',
  'checkpoint-storm',
  'idb-batch-atomic',
]);

/** Visible height of elements, within their scrolling parent and the window, px. */
function seenHeight(selector: string): number {
  const element = document.querySelector(selector)!;
  let { top, bottom } = element.getBoundingClientRect();
  for (let at = element.parentElement; at; at = at.parentElement) {
    if (getComputedStyle(at).overflowY === 'visible') continue;
    const box = at.getBoundingClientRect();
    [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
  }
  return Math.max(0, Math.min(bottom, innerHeight) - Math.max(top, 0));
}
/** Columns of the first row that are within the table. */
function columnsInSight(row: string): string[] {
  const first = document.querySelector(row)!;
  const box = first.closest('[role=treegrid]')!.getBoundingClientRect();
  return [...first.querySelectorAll<HTMLElement>('[data-column]')]
    .filter((cell) => cell.getBoundingClientRect().right <= box.right + 1)
    .map((cell) => cell.dataset.column!);
}

describe('Cache', () => {
  it('shows what the suggested size saves in milliseconds, and draws no curve that falls nowhere', async () => {
    await panel.open('cache-thrash', 'cache');
    await panel.waitText(id('curve-saving'), 'Saves 12.4 ms.');
    await panel.waitFor(id('miss-ratio-curve'));
    // also every other size: what it avoids and saves
    const facts = new Facts(panel.store('cache-thrash'));
    const [{ goal, avoidable }, { us }] = [facts.get(missRatios)[0]!, facts.get(goalSavings)[0]!];
    await panel.page.$eval(id('miss-ratio-curve'), (chart) => (chart as SVGElement).focus());
    await panel.page.keyboard.press('End');
    await panel.page.waitForFunction(
      (words: string) => document.querySelector('.said p')?.textContent?.includes(words),
      {},
      `avoids at least ${countOf(avoidable, 'read')}, saves ${formatDuration((us! * avoidable) / goal!.avoided)}`,
    );
    // a statement links to its page
    await panel.click(id('cache-statement'));
    await panel.waitFor(id('statement-details'));
    await panel.open('idb-two-tabs', 'cache');
    await panel.waitText(id('curve-goal'), 'No larger cache would avoid a read.');
    await panel.waitFor(id('curve-size'));
    expect(await panel.page.$(id('miss-ratio-curve'))).toBeNull();
  });
});

/** Waits until the Answer's sentence and its first actions are completely visible. */
async function aboveTheFold(actions: number): Promise<void> {
  const firsts = Array.from(
    { length: actions },
    (_, i) => `${id('finding')}:nth-of-type(${i + 1})`,
  );
  for (const selector of [id('answer'), ...firsts]) {
    await panel.waitFor(selector);
    const whole = await panel.page.$eval(selector, (e) => e.getBoundingClientRect().height);
    await panel.page.waitForFunction(
      `(${String(seenHeight)})(${JSON.stringify(selector)}) >= ${whole} - 1`,
    );
  }
}
const DOCKED = [
  ['docked right', 554, 850],
  ['docked at the bottom', 1300, 272],
] as const;

describe('Answer', () => {
  it.each(DOCKED)(
    'has its sentence and the first two actions above the fold: %s',
    async (_, width, height) => {
      await panel.load('idb-batch-atomic', '#tab=answer');
      await panel.page.setViewport({ width, height });
      await aboveTheFold(2);
    },
  );

  it.each(DOCKED)(
    'has them there even below the flight recorder, numbers, notices, and a badge: %s',
    async (_, width, height) => {
      const store = await panel.fresh('idb-batch-atomic');
      const note = { kind: 'note', id: 0, topic: 'worker-native' } as const;
      for (const [text, url] of [
        ['a worker was started before recording', 'https://app.example/old.js'],
        ["the page's CSP blocks blob: workers", 'https://app.example/pool.js'],
      ] as const)
        store.threads[0]!.define({ ...note, text, url });
      // adds a note next to "What to do"
      const slow = { devtools: true, wasmFactor: null, awaitExtraNs: null };
      store.threads[0]!.define({ kind: 'conditions', id: 0, ...slow });
      const { page } = panel;
      await page.setViewport({ width, height });
      await page.goto(`${panel.url}?test&live#tab=answer`);
      await page.waitForSelector(id('keep-kind'));
      await page.select(id('keep-kind'), 'seconds');
      await panel.waitFor(id('flight'));
      const file = join(folder, 'with-notes.vfst');
      await writeFile(file, Buffer.from(await (await saveTrace(store)).arrayBuffer()));
      const input = (await page.$(id('open-input'))) as ElementHandle<HTMLInputElement>;
      await input.uploadFile(file);
      for (const above of ['flight', 'notice', 'badge']) await panel.waitFor(id(above));
      for (const above of [id('flight'), id('notice'), id('strip')])
        expect(await page.evaluate(seenHeight, above), above).toBeGreaterThan(12);
      const wide = await page.$eval(id('notice'), (e) => e.clientWidth);
      expect(wide).toBeGreaterThan(300);
      const told = await page.$eval(id('explained'), (e) => e.textContent);
      expect(told).toMatch(/with DevTools open\.$/);
      await aboveTheFold(2);
    },
  );
});

describe('a table', () => {
  /**
   * Which of its headings and numbers are cut, how far it exceeds the screen, and how wide its text
   * is.
   */
  const look = (table: string): Promise<{ cut: string[]; sideways: number; text: number }> =>
    panel.page.$eval(id(table), (grid) => {
      const texts = [
        ...grid.querySelectorAll<HTMLElement>(
          '[role=columnheader] button, .numeric[role=gridcell]',
        ),
      ];
      return {
        cut: texts.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent!.trim()),
        sideways: grid.scrollWidth - grid.clientWidth,
        text: grid.querySelector('[data-heading]')!.clientWidth,
      };
    });

  it.each([
    ['statements', 'cache-thrash', 'statements'],
    ['transactions', 'checkpoint-storm', 'transactions'],
    ['wal', 'checkpoint-storm', 'checkpoints'],
    ['files', 'cache-thrash', 'files'],
    ['errors', 'opfs-coop-sync', 'errors'],
    ['locks', 'idb-two-tabs', 'lock-graph'],
    ['flame', 'cache-thrash', 'flame'],
  ])('of %s cuts no number and leaves no screen, narrow or wide', async (view, trace, table) => {
    await panel.open(trace, view, 554);
    await panel.waitFor(id(`${table}`));
    await panel.waitFor(`${id(table)} [role=gridcell]`);
    const widths = [400, 554, 900, 1400, 2200];
    const found: Record<number, unknown> = {};
    for (const width of widths) {
      await panel.page.setViewport({ width, height: 700 });
      await panel.page.waitForFunction(
        (s: string) => {
          const { scrollWidth, clientWidth } = document.querySelector(s)!;
          return scrollWidth <= clientWidth;
        },
        {},
        id(table),
      );
      const { cut, sideways } = await look(table);
      found[width] = { cut, sideways };
    }
    expect(found).toEqual(
      Object.fromEntries(widths.map((width) => [width, { cut: [], sideways: 0 }])),
    );
  });

  it('keeps an open menu at its button when the panel is resized', async () => {
    await panel.open('cache-thrash', 'statements', 554);
    await panel.waitFor(id('statements-room'));
    await panel.click(id('statements-room'));
    await panel.waitFor(id('statements-room-menu'));
    for (const width of [480, 620]) {
      await panel.page.setViewport({ width, height: 700 });
      await panel.page.waitForFunction(
        (s: string) => {
          const menu = document.querySelector(s)!;
          const [its, button] = [menu, menu.parentElement!].map((e) => e.getBoundingClientRect());
          const free = innerWidth - its!.width - 4;
          return (
            Math.abs(its!.left - Math.min(button!.left, free)) < 1 &&
            (Math.abs(its!.top - button!.bottom) < 1 || Math.abs(its!.bottom - button!.top) < 1)
          );
        },
        {},
        id('statements-room-menu'),
      );
    }
  });

  it('drops late columns in favor of the text, names them, and shows them on demand, also later', async () => {
    await panel.open('cache-thrash', 'statements', 554);
    await panel.waitFor(id('statements-room'));
    expect((await look('statements')).text).toBeGreaterThanOrEqual(220);
    const headings = (): Promise<string[]> =>
      panel.page.$$eval(`${id('statements')} [data-heading]`, (all) =>
        all.map((e) => e.textContent!.trim()),
      );
    const shown = await headings();
    expect(shown.slice(0, 2)).toEqual(['Statement', 'Total time']);
    const said = await panel.page.$eval(id('statements-room'), (e) => e.textContent!.trim());
    await panel.click(id('statements-room'));
    await panel.waitFor(id('statements-room-menu'));
    const missing = await panel.page.$$eval(`${id('statements-room-menu')} li`, (all) =>
      all.map((e) => e.textContent!.trim()),
    );
    expect(said).toBe(`+${missing.length}`);
    expect(missing).toContain('Writes');
    await panel.click(id('statements-room-all'));
    await panel.waitFor(`${id('statements')} [data-heading=vfs_writes]`);
    expect((await headings()).filter((one) => !shown.includes(one))).toEqual(missing);
    expect((await look('statements')).sideways).toBeGreaterThan(0);
    await panel.click(id('tab-answer'));
    await panel.waitFor(id('answer-view'));
    await panel.click(id('tab-statements'));
    await panel.waitFor(`${id('statements')} [data-heading=vfs_writes]`);
    await panel.click(id('statements-room'));
    await panel.waitFor(id('statements-room-all'));
    await panel.click(id('statements-room-all'));
    await panel.page.waitForSelector(`${id('statements')} [data-heading=vfs_writes]`, {
      hidden: true,
    });
    expect(await headings()).toEqual(shown);
  });

  it("in Events: the menu of columns lists those that don't fit", async () => {
    await panel.open('opfs-coop-sync', 'events', 554);
    await panel.click(id('event-columns'));
    await panel.waitFor(id('column-menu'));
    const lacking = await panel.page.$$eval(`${id('column-menu')} label`, (all) =>
      all.flatMap((e) =>
        e.querySelector('small') ? [e.firstElementChild!.id || e.textContent!.trim()] : [],
      ),
    );
    expect(lacking).toContain("Statementdoesn't fit");
    expect(lacking).not.toContain("Calldoesn't fit");
  });
});

it.each([554, 1400])(
  "the labels of Cache's curve overlap neither a curve nor another label: %i px",
  async (width) => {
    await panel.open('cache-thrash', 'cache', width);
    await panel.waitFor(`${id('miss-ratio-curve')} text.halo`);
    const { labels, top } = await panel.page.$eval(id('miss-ratio-curve'), (svg) => ({
      labels: [...svg.querySelectorAll('text.halo')]
        .map((e) => e.getBoundingClientRect())
        .filter(({ bottom }) => bottom < svg.getBoundingClientRect().bottom - 40)
        .map(({ left, right, top, bottom }) => ({ left, right, top, bottom })),
      top: svg.querySelector('path.steps')!.getBoundingClientRect().top,
    }));
    expect(labels.length).toBeGreaterThan(0);
    for (const [i, a] of labels.entries()) {
      expect(a.bottom).toBeLessThanOrEqual(top + 1);
      for (const b of labels.slice(i + 1))
        expect(
          a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 2 || b.bottom <= a.top + 2,
        ).toBe(true);
    }
  },
);

describe('Files', () => {
  it('shows reads, writes, bytes, and syncs next to the map at 1400 px, named by role', async () => {
    await panel.open('cache-thrash', 'files', 1400);
    await panel.waitFor(id('page-map'));
    const columns = await panel.page.evaluate(columnsInSight, id('file-row'));
    expect(columns.slice(0, 7)).toEqual([
      'path',
      'timeUs',
      'reads',
      'readBytes',
      'writes',
      'writeBytes',
      'syncs',
    ]);
    expect(
      await panel.page.$eval(`${id('file-row')}[aria-selected=true] [data-column=path]`, (e) =>
        e.textContent?.trim(),
      ),
    ).toBe('database');
    await panel.page.setViewport({ width: 1900, height: 700 });
    await panel.waitFor(`${id('file-row')} [data-column=vfs]`);
  });
  it('shows an OPFS folder once', async () => {
    await panel.open('opfs-sahpool', 'files', 1280);
    await panel.waitFor(id('file-row'));
    const inPool = `${id('file-row')}[data-path^="/.opfs-sahpool/.opaque/"]`;
    expect(await panel.page.$(inPool)).toBeNull(); // a pool is collapsed at first
    await panel.click(`${id('file-group')}[aria-expanded=false]`);
    await panel.waitFor(inPool);
    const rows = await panel.page.$$eval(`${inPool} [data-column=path] > span`, (cells) =>
      cells.map((cell) => [cell.textContent!.trim(), (cell as HTMLElement).title]),
    );
    expect(rows.length).toBeGreaterThan(3);
    for (const [name, title] of rows) {
      expect(name).not.toContain('/');
      expect(title).toBe(`/.opfs-sahpool/.opaque/${name} · opfs`);
    }
  });
  it.each([
    [620, 300],
    [900, 300],
    [400, 640],
  ])(
    'at %i x %i has rows of the table and, scrolled to, a map that is no slit',
    async (width, height) => {
      await panel.open('cache-thrash', 'files', width);
      await panel.page.setViewport({ width, height });
      await panel.waitFor(`${id('page-map')}[data-cells]`);
      expect(await panel.page.evaluate(seenHeight, id('files'))).toBeGreaterThan(80);
      await panel.page.$eval(id('page-map'), (e) => e.scrollIntoView({ block: 'nearest' }));
      expect(await panel.page.evaluate(seenHeight, id('page-map'))).toBeGreaterThan(50);
    },
  );
});

it("the Answer's tab stays visible while the others scroll", async () => {
  await panel.open('opfs-sahpool', 'transactions', 554);
  await panel.waitFor(id('more-views'));
  const seen = await panel.page.$eval(id('tab-answer'), (tab) => {
    const { left, right, top, height } = tab.getBoundingClientRect();
    const at = (x: number): boolean => document.elementFromPoint(x, top + height / 2) === tab;
    return at(left + 2) && at(right - 2);
  });
  expect(seen).toBe(true);
});

describe('the strip of a finished recording', () => {
  it.each([400, 554, 1400])('is one line at %i px, of whole numbers', async (width) => {
    await panel.open('idb-batch-atomic', 'answer', width);
    await panel.page.waitForFunction(
      (s: string) => /^\d/.test(document.querySelector(s)?.textContent ?? ''),
      {},
      id('live-sql-time'),
    );
    const { height, seen, cut } = await panel.page.$eval(id('strip'), (strip) => {
      const box = strip.getBoundingClientRect();
      const inLine = [...strip.children]
        .map((e) => ({ e, at: e.getBoundingClientRect() }))
        .filter(({ at }) => at.top < box.bottom - 1);
      return {
        height: box.height,
        seen: inLine.map(({ e }) => [...e.children].reverse().map((c) => c.textContent!.trim())),
        cut: inLine.filter(({ at }) => at.right > box.right || at.bottom > box.bottom + 1).length,
      };
    });
    expect(cut).toBe(0);
    expect(height).toBeLessThan(24);
    expect(seen.map(([, words]) => words)).toEqual(
      ['recorded', 'in SQL', 'runs', 'commits', 'reads', 'writes', 'syncs', 'events'].slice(
        0,
        seen.length,
      ),
    );
    expect(seen.length).toBeGreaterThanOrEqual(width < 500 ? 4 : 5);
    expect(seen[0]![0]).toMatch(/^[\d.]+ m?s$/);
  });
});

describe('a definition', () => {
  it.each([
    ['cache', '.facts'],
    ['answer', id('strip')],
  ])('in %s opens by key, and closes by Escape', async (view, among) => {
    await panel.open('idb-batch-atomic', view);
    const term = `${among} ${id('term')}`;
    await panel.waitFor(term);
    const about = await panel.page.$eval(term, (e) => (e as HTMLElement).title);
    expect(about.length).toBeGreaterThan(10);
    await panel.page.focus(term);
    await panel.page.keyboard.press('Enter');
    await panel.waitFor(`${term}[aria-expanded=true]`);
    await panel.waitText(id('definition'), about);
    // all of it is visible, even if its bar hides what doesn't fit
    await panel.page.waitForFunction(
      (s: string) => {
        const { top, left, bottom, right } = document.querySelector(s)!.getBoundingClientRect();
        const seen = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        return (
          top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth && seen?.closest(s)
        );
      },
      {},
      id('definition'),
    );
    await panel.page.keyboard.press('Escape');
    await panel.page.waitForSelector(id('definition'), { hidden: true });
    expect(
      await panel.page.evaluate(
        (s: string) => document.activeElement === document.querySelector(s),
        term,
      ),
    ).toBe(true);
  });
});

describe('Locks', () => {
  it("gives its tables the space that the tracks don't need, until the border is moved", async () => {
    await panel.open('idb-two-tabs', 'locks', 1400);
    await panel.waitFor(id('locks-waits'));
    await panel.click(id('locks-waits'));
    await panel.waitFor(`${id('lock-waits')}`);
    const space = await panel.page.$eval(
      id('lock-lanes'),
      (e) => e.clientHeight - e.firstElementChild!.clientHeight,
    );
    expect(space).toBeGreaterThanOrEqual(0);
    expect(space).toBeLessThan(10);
    const before = await panel.page.$eval(id('lock-waits'), (e) => e.clientHeight);
    await panel.page.focus(`${id('locks-view')} [role=separator]`);
    await panel.page.keyboard.press('ArrowDown');
    await panel.page.waitForFunction(
      (s: string, h: number) => document.querySelector(s)!.clientHeight < h - 20,
      {},
      id('lock-waits'),
      before,
    );
  });
});

it("in a low panel the query has half of the width, and a dialog's buttons stay visible", async () => {
  await panel.open('opfs-coop-sync', 'sql', 620);
  await panel.page.setViewport({ width: 620, height: 300 });
  await panel.page.waitForFunction(
    (s: string) =>
      Math.abs(document.querySelector(s)!.querySelector('.cm-editor')!.clientWidth - 308) < 12,
    {},
    id('sql-view'),
  );
  await panel.click(id('export'));
  await panel.waitFor(id('export-share'));
  await panel.click(id('export-share'));
  await panel.waitFor(id('export-run'));
  expect(await panel.page.evaluate(seenHeight, id('export-run'))).toBeGreaterThan(15);
});

it("durations below the clock's step aren't cut in a panel of 620 px", async () => {
  await panel.open('opfs-coop-sync', 'events', 620);
  await panel.page.type(id('filter'), 'xSectorSize');
  await panel.waitFor(`${id('event-row')} [data-column=duration]`);
  await panel.page.waitForFunction(
    (s: string) => [...document.querySelectorAll(s)].some((e) => e.textContent?.startsWith('< ')),
    {},
    `${id('event-row')} [data-column=duration]`,
  );
  const cut = await panel.page.$$eval(`${id('event-row')} [data-column=duration]`, (all) =>
    all.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent),
  );
  expect(cut).toEqual([]);
});

it('charts over time have an axis with round moments', async () => {
  await panel.open('checkpoint-storm', 'wal', 900);
  const labels = async (chart: string): Promise<string[]> => {
    await panel.waitFor(`${id(chart)} ${id('time-ticks')}`);
    return panel.page.$$eval(`${id(chart)} ${id('time-ticks')} text`, (all) =>
      all.map((e) => e.textContent ?? ''),
    );
  };
  const seconds = (await labels('wal-chart')).map((label) =>
    Number(/^(\d+\.\d+) s$/.exec(label)![1]),
  );
  expect(seconds.length).toBeGreaterThan(3);
  for (const [i, second] of seconds.entries())
    if (i) expect(second - seconds[i - 1]!).toBeCloseTo(seconds[1]! - seconds[0]!, 9);
  await panel.click(id('tab-cache'));
  expect((await labels('cache-rate')).length).toBeGreaterThan(2);
});

it('threads of two tabs have different names, on the timeline and in the selected area', async () => {
  await panel.open('idb-two-tabs', 'timeline', 1400);
  const names = (): Promise<string[]> =>
    panel.page.$$eval('[data-testid^="thread-"]', (all) =>
      all.map((e) => e.textContent?.trim() ?? ''),
    );
  await panel.waitFor('[data-testid^="thread-"]');
  expect(await names()).toEqual(['Page 1 · Worker worker.js', 'Page 2 · Worker worker.js']);
  await panel.page.keyboard.press('r');
  await panel.waitFor(id('area'));
  const ticks = await panel.page.$$eval(`${id('area')} label`, (all) =>
    all.map((e) => e.textContent?.trim()),
  );
  expect(ticks).toEqual([
    'SQL',
    'VFS',
    'Storage',
    'Host',
    'Page 1 · Worker worker.js',
    'Page 2 · Worker worker.js',
  ]);
});

describe('Transactions', () => {
  it('follow each other over time, each with its commit', async () => {
    await panel.open('opfs-coop-sync', 'transactions', 1400);
    const selector = `${id('transactions-row')} [data-column=waterfall] i`;
    await panel.page.waitForFunction(
      (bar) => (document.querySelector(bar)?.getBoundingClientRect().width ?? 0) > 0,
      {},
      selector,
    );
    // found and measured at once, because rows that are redrawn in between would measure nothing
    const bars = await panel.page.evaluate(
      (all) =>
        [...document.querySelectorAll(all)].map((e) => {
          const [box, room] = [e.getBoundingClientRect(), e.parentElement!.getBoundingClientRect()];
          return {
            left: box.left - room.left,
            right: room.right - box.right,
            commit: e.firstElementChild!.getBoundingClientRect().width,
            width: box.width,
          };
        }),
      selector,
    );
    bars.sort((a, b) => a.left - b.left); // the table begins with the longest
    expect(bars.length).toBeGreaterThan(15);
    expect(bars[0]!.left).toBeGreaterThanOrEqual(0);
    for (const [i, bar] of bars.entries()) {
      expect(bar.right).toBeGreaterThanOrEqual(-1);
      expect(bar.width).toBeGreaterThanOrEqual(2);
      expect(bar.commit).toBeLessThanOrEqual(bar.width + 0.5);
      if (i) expect(bar.left).toBeGreaterThanOrEqual(bars[i - 1]!.left);
    }
    expect(bars.some(({ commit }) => commit > 0)).toBe(true);
  });
});

describe('Errors', () => {
  it('can be copied by row, and link to their events in Events, filtered', async () => {
    await panel.open('opfs-coop-sync', 'errors', 1400);
    await panel.waitFor(id('errors-row'));
    await panel.page.evaluate(() => {
      const copied: string[] = [];
      Object.assign(window, { copied });
      Object.defineProperty(navigator, 'clipboard', {
        value: { writeText: (text: string) => Promise.resolve(void copied.push(text)) },
      });
    });
    const copied = (): Promise<string[]> =>
      panel.page.evaluate(() => (window as unknown as { copied: string[] }).copied);
    const shown = (await panel.page.$$(id('errors-row'))).length;
    await panel.click(id('error-copy'));
    await panel.waitFor(id('toast'));
    expect((await copied())[0]!.split('\n')).toHaveLength(shown + 2);
    await panel.click(id('errors-row'));
    await panel.page.focus(id('errors'));
    await panel.page.keyboard.down('Control');
    await panel.page.keyboard.press('c');
    await panel.page.keyboard.up('Control');
    await panel.page.waitForFunction(
      () => (window as unknown as { copied: string[] }).copied.length === 2,
    );
    const said =
      /^Error\tCount\tCall\tOn\tHandled\tLayer\tFirst\tLast\nSQLITE_BUSY\t(\d+)\txLock\ttest-1\.db\t1\tVFS\t([.\d]+)\t([.\d]+)\n$/.exec(
        (await copied())[1]!,
      );
    const [count, first, last] = said!.slice(1).map(Number) as [number, number, number];
    const moments = await panel.page.$$eval(`${id('error-details')} li`, (all) =>
      all.map((e) => e.textContent?.trim()),
    );
    expect([moments.length, moments[0], moments.at(-1)]).toEqual([
      count,
      ...[first, last].map((us) => `${(us / 1e6).toFixed(6)} s`),
    ]);
    await panel.click(id('error-list'));
    await panel.waitText(id('event-count'), `${count} event${count === 1 ? '' : 's'}`);
  });
  it('are found by the statement behind them', async () => {
    await panel.open('opfs-coop-sync', 'errors');
    await panel.waitFor(id('errors-row'));
    await panel.page.type(id('error-filter'), 'vfs create table');
    await panel.page.waitForFunction(
      (s: string) => !document.querySelector(s),
      {},
      id('errors-row'),
    );
    await panel.page.click(id('error-filter'), { count: 3 });
    await panel.page.type(id('error-filter'), 'CREATE TABLE t');
    await panel.waitFor(id('errors-row'));
    await panel.page.waitForFunction(
      (s: string) =>
        [...document.querySelectorAll(s)].some((cell) => cell.textContent?.trim() === 'xLock'),
      {},
      `${id('errors-row')} [data-column=call]`,
    );
  });
});

it('Query offers example questions, one of which runs', async () => {
  await panel.open('opfs-coop-sync', 'sql');
  await panel.waitFor(id('sql-example'));
  await panel.page.$$eval(id('sql-example'), (all) =>
    (all.find((e) => e.textContent?.includes('slowest')) as HTMLElement).click(),
  );
  await panel.waitFor(id('sql-result-row'));
  await panel.waitFor(id('sql-show'));
});
