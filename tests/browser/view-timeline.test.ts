// The timeline in an ordinary tab: user actions other than zoom and pan, and their results, on a
// trace with known numbers.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { saveTrace } from '../../src/trace/file/write.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { formatDuration } from '../../src/text/numbers.ts';
import { servePanel } from '../../tools/dev/panel.mjs';
import { launchPlainBrowser } from '../oracle/browser.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { builtPanel } from './built-panel.ts';

const id = (name: string): string => `[data-testid="${name}"]`;
const HOSTILE = '/<img src=x onerror=alert(1)>\u202e.db';
const store = newStore();
{
  const writer = new ThreadBuilder(store, { name: 'writer' });
  const sql = writer.define({ kind: 'sql', text: 'INSERT INTO note VALUES (?)' });
  const db = writer.file(HOSTILE);
  for (let i = 0; i < 100; i++) {
    writer.call('sqlStep', { object: sql, result: 101 }, () => {
      writer.call('xLock', { object: db, aux: 1, dur: 20 });
      writer.call('xLock', { object: db, aux: 2, dur: 20 });
      writer.call('xWrite', { object: db, offset: i * 4096, length: 4096, dur: 50 }, () =>
        writer.call('opfsWrite', { result: 4096, dur: 50 }),
      );
      writer.call('xSync', { object: db, dur: 300 });
      writer.call('xUnlock', { object: db, dur: 10 });
    });
    writer.idle(550);
  }
  writer.send();
}

let browser: Browser;
let server: Awaited<ReturnType<typeof servePanel>>;
let folder: string;
let page: Page;
const failures: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vfscope-timeline-'));
  const file = join(folder, 'known.vfst');
  await writeFile(file, Buffer.from(await (await saveTrace(store)).arrayBuffer()));
  const out = await builtPanel();
  server = await servePanel({ out, traces: { 'known.vfst': file } });
  browser = await launchPlainBrowser();
  page = await browser.newPage();
  page.on('pageerror', (error) =>
    failures.push(error instanceof Error ? error.message : String(error)),
  );
  page.on('dialog', (dialog) => {
    failures.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.setViewport({ width: 1200, height: 800 });
  await page.goto(`${server.url}?test&open=/traces/known.vfst`);
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
  await page.$eval(id('tab-timeline'), (e) => (e as HTMLElement).click());
  await page.waitForSelector(`${id('timeline')}[data-frame]`);
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await rm(folder, { recursive: true, force: true });
  expect(failures).toEqual([]);
});

const waitText = (selector: string, wanted: string): Promise<unknown> =>
  page.waitForFunction(
    (s: string, w: string) => document.querySelector(s)?.textContent?.trim() === w,
    {},
    selector,
    wanted,
  );
interface Asked {
  from: number;
  to: number;
  width: number;
  lanes: string[];
}
const laneKeys = (): Promise<string[]> =>
  page.$$eval('[data-testid^="buttons-0:"]', (all) =>
    all.map((e) => (e as HTMLElement).dataset.testid!.slice('buttons-0:'.length)),
  );
const waitLanes = (wanted: string[]): Promise<unknown> =>
  page.waitForFunction(
    (w: string) =>
      [...document.querySelectorAll<HTMLElement>('[data-testid^="buttons-0:"]')]
        .map((e) => e.dataset.testid!.slice(10))
        .join() === w,
    {},
    wanted.join(),
  );
const ALL = ['time', 'sql', 'txn', 'vfs', 'web', 'lock', 'reads', 'writes'];

it('has tracks for time, statements, transactions, calls, locks, and bytes, which can be hidden, pinned, moved, and restored', async () => {
  await waitLanes(ALL);
  const act = (lane: string, what: string): Promise<void> =>
    page.$eval(`${id(`buttons-0:${lane}`)} [data-do=${what}]`, (e) => (e as HTMLElement).click());
  await act('vfs', 'pin');
  await waitLanes(['vfs', ...ALL.filter((l) => l !== 'vfs')]);
  await act('web', 'hide');
  await waitLanes(['vfs', ...ALL.filter((l) => l !== 'vfs' && l !== 'web')]);
  await act('txn', 'up');
  await waitLanes(['vfs', 'time', 'txn', 'sql', 'lock', 'reads', 'writes']);
  await page.click(id('lanes-menu'));
  await page.click(id('show-lock'));
  await waitLanes(['vfs', 'time', 'txn', 'sql', 'reads', 'writes']);
  await page.click(id('reset-lanes'));
  await waitLanes(ALL);
  await page.keyboard.press('Escape');
  expect(await laneKeys()).toEqual(ALL);
});

it('shows how many calls touch an area, by operation, statement, and file, with all names as text', async () => {
  const box = (await (await page.$(id('timeline')))!.boundingBox())!;
  await page.mouse.move(box.x + 1, box.y + 8);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 2, box.y + 8, { steps: 4 });
  await page.mouse.up();
  await page.waitForSelector(id('area'));
  const row = (name: string): string => `${id('area-table-row')}[data-key$="${name}"]`;
  await waitText(`${row('xSync')} [data-column=count]`, '100');
  await waitText(`${row('xSync')} [data-column=total]`, '30 ms');
  await waitText(`${row('xSync')} [data-column=p95]`, '300 µs');
  // self time first: a step has what is left of it without its calls
  await page.waitForSelector(`${id('area-table')} [data-heading=self][aria-sort=descending]`);
  await waitText(`${row('xSync')} [data-column=self]`, '30 ms');
  expect(await page.$$eval(`${id('area-times')} li`, (all) => all.length)).toBeGreaterThan(0);
  const tall = (): Promise<number> =>
    page.$eval(id('area'), (e) => (e as HTMLElement).offsetHeight);
  const height = await tall();
  await page.focus(id('area-edge'));
  await page.keyboard.press('ArrowUp');
  expect(await tall()).toBe(height + 24);
  await page.keyboard.press('ArrowDown');
  expect(await tall()).toBe(height);
  await waitText(`${row('xWrite')} [data-column=bytes]`, '400 KiB');
  await waitText(`${row('xLock')} [data-column=count]`, '200');
  await page.waitForSelector(id('area-times'));
  await page.click(id('area-by-statement'));
  // one row for all spellings, with the text of the first
  await waitText(`${row('values (?)')} [data-column=bytes]`, '400 KiB');
  const written = await page.$eval(`${row('values (?)')} [data-column=name]`, (e) => e.textContent);
  expect(written).toContain('VALUES (?)');
  await page.click(id('area-by-file'));
  await page.waitForFunction(
    (s: string) => document.querySelector(s)?.textContent?.includes('<img src=x'),
    {},
    `${id('area-table')} [data-column=name]`,
  );
  expect(await page.$('img')).toBeNull();
  await page.keyboard.press('Escape');
  await page.waitForSelector(id('area'), { hidden: true });
});

it('focuses the search after a slash, and in a view without one the filter of Events', async () => {
  const focused = (): Promise<string | undefined> =>
    page.evaluate(() => {
      document.body.dispatchEvent(
        new KeyboardEvent('keydown', { key: '/', bubbles: true, cancelable: true }),
      );
      const found = (document.activeElement as HTMLElement).dataset.testid;
      (document.activeElement as HTMLElement).blur();
      return found;
    });
  expect(await focused()).toBe('timeline-search');
  await page.$eval(id('tab-wal'), (e) => (e as HTMLElement).click());
  expect(await focused()).toBe('filter');
  await page.$eval(id('tab-timeline'), (e) => (e as HTMLElement).click());
  await page.waitForSelector(`${id('timeline')}[data-frame]`);
});

it('finds words, steps through hits, and draws arrows from the selected statement', async () => {
  await page.keyboard.press('/');
  await page.keyboard.type('xsync');
  await waitText(id('timeline-hits'), '100');
  await page.keyboard.press('Enter');
  await waitText(id('timeline-hits'), '1 of 100');
  await waitText(id('details-name'), 'xSync');
  await page.$eval(id('timeline-search'), (e) => (e as HTMLElement).blur());
  await page.keyboard.press('.');
  await waitText(id('timeline-hits'), '2 of 100');
  await page.keyboard.press(',');
  await page.keyboard.press(',');
  await waitText(id('timeline-hits'), '100 of 100');
  await page.click(id('parent'));
  await waitText(id('details-name'), 'sqlite3_step');
  await page.waitForFunction(
    (s: string) => document.querySelector<HTMLElement>(s)!.dataset.arrows === '1',
    {},
    id('timeline'),
  );
  await page.keyboard.press(']');
  await page.waitForFunction(
    (s: string) => !document.querySelector(s)?.textContent.includes('sqlite3_step'),
    {},
    id('details-name'),
  );
  await page.keyboard.press('[');
  await waitText(id('details-name'), 'sqlite3_step');
});

it('goes back and forward through the zooms', async () => {
  const span = (): Promise<number> =>
    page.$eval(
      id('timeline'),
      (e) => Number((e as HTMLElement).dataset.to) - Number((e as HTMLElement).dataset.from),
    );
  /** The view has stopped: it is the current step among the zooms. */
  const rested = async (): Promise<number> => {
    const wanted = await span();
    await waitText(`${id('crumb')}[aria-current="true"]`, formatDuration(wanted));
    return wanted;
  };
  await page.keyboard.press('0');
  const whole = await rested();
  await page.keyboard.press('w');
  await rested();
  await page.waitForFunction(
    (s: string) => !document.querySelector<HTMLButtonElement>(s)!.disabled,
    {},
    id('zoom-back'),
  );
  expect(await span()).toBeLessThan(whole * 0.7);
  await page.keyboard.press('z');
  await page.waitForFunction(
    (s: string, wanted: number) => {
      const { from, to } = document.querySelector<HTMLElement>(s)!.dataset;
      return Math.abs(Number(to) - Number(from) - wanted) < wanted * 0.01;
    },
    {},
    id('timeline'),
    whole,
  );
  await page.keyboard.press('x');
  await page.waitForFunction(
    (s: string, wanted: number) => {
      const { from, to } = document.querySelector<HTMLElement>(s)!.dataset;
      return Number(to) - Number(from) < wanted * 0.7;
    },
    {},
    id('timeline'),
    whole,
  );
});

it('stores notes in the file', async () => {
  await page.keyboard.press('b');
  await page.waitForSelector(`${id('note-here')}:focus`);
  await page.keyboard.press('Enter');
  await page.click(id('notes-menu'));
  await page.waitForSelector(id('note'));
  const input = (await page.$(id('note-text')))!;
  await input.click({ count: 3 });
  await page.keyboard.type('look <b>here</b>');
  await page.keyboard.press('Tab');
  await page.waitForFunction(
    (s: string) => document.querySelector<HTMLInputElement>(s)?.value === 'look <b>here</b>',
    {},
    id('note-text'),
  );
  await page.keyboard.press('Escape');
  await page.keyboard.down('Control');
  await page.keyboard.press('s');
  await page.keyboard.up('Control');
  await page.waitForFunction(() => window.panel.saved.length === 1);
  const bytes = await page.evaluate(async () => [
    ...new Uint8Array(await window.panel.saved[0]!.data.arrayBuffer()),
  ]);
  const { store: read } = await readTrace(Uint8Array.from(bytes));
  expect(read.annotations.notes.map((n) => n.text)).toEqual(['look <b>here</b>']);
  expect(read.eventCount).toBe(store.eventCount);
});

it('maps the reads and writes of a file, and selects what is clicked there', async () => {
  await page.keyboard.press('0');
  await page.waitForSelector(`${id('io-map-canvas')}[data-map]`);
  await page.waitForFunction(
    (s: string) => {
      const canvas = document.querySelector<HTMLCanvasElement>(s)!;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      let orange = 0;
      for (let i = 0; i < data.length; i += 4)
        if (data[i]! > 200 && data[i]! > data[i + 2]! + 60) orange++;
      return orange > 50; // writes are orange, on a diagonal: each at the next offset
    },
    {},
    id('io-map-canvas'),
  );
  expect(
    await page.$eval(
      id('io-map-file'),
      (e) => (e as HTMLSelectElement).selectedOptions[0]!.textContent,
    ),
  ).toContain('(database)');
});

it("lets arrow keys move over the file's map, and Enter selects the call there", async () => {
  await page.keyboard.press('0');
  await page.waitForSelector(`${id('io-map-canvas')}[data-map]`);
  await page.focus(id('io-map-canvas'));
  // from the middle to the diagonal of writes
  await expect
    .poll(
      async () => {
        await page.keyboard.press('ArrowRight');
        return page.evaluate((s) => document.querySelector(s)?.textContent, `${id('tooltip')} b`);
      },
      { interval: 200, timeout: 20_000 },
    )
    .toBe('xWrite');
  await page.keyboard.press('Enter');
  await waitText(id('details-name'), 'xWrite');
  await page.focus(id('io-map-canvas'));
  for (let i = 0; i < 20; i++) await page.keyboard.press('ArrowUp');
  await page.waitForSelector(id('tooltip'), { hidden: true });
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Escape');
  await page.waitForSelector(`${id('io-map')} .cursor`, { hidden: true });
});

it('keeps space for the tracks in a low panel, next to the map', async () => {
  await page.setViewport({ width: 1200, height: 240 });
  const height = (name: string): Promise<number> =>
    page.$eval(id(name), (e) => e.getBoundingClientRect().height);
  expect(await height('timeline')).toBeGreaterThanOrEqual(96);
  await page.setViewport({ width: 1200, height: 800 });
});

it('keeps its picture while it has no size, as in DevTools for a moment, until a new one arrives', async () => {
  const colored = await page.evaluate(async (selector) => {
    const canvas = document.querySelector<HTMLCanvasElement>(selector)!;
    const frames = async (): Promise<void> => {
      for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
    };
    const pixels = (): number => {
      const { data } = canvas
        .getContext('2d')!
        .getImageData(0, 20, canvas.width, canvas.height - 20);
      let count = 0;
      for (let i = 0; i < data.length; i += 4)
        if (
          Math.max(data[i]!, data[i + 1]!, data[i + 2]!) -
            Math.min(data[i]!, data[i + 1]!, data[i + 2]!) >
          60
        )
          count++;
      return count;
    };
    const before = pixels();
    const { postMessage } = Worker.prototype;
    const held: (() => void)[] = [];
    document.documentElement.style.display = 'none';
    await frames();
    const gone = canvas.clientWidth;
    Worker.prototype.postMessage = function (
      this: Worker,
      ...args: [unknown, StructuredSerializeOptions]
    ) {
      held.push(() => postMessage.apply(this, args)); // no picture arrives
    } as typeof postMessage;
    document.documentElement.style.display = '';
    await frames();
    const after = pixels();
    Worker.prototype.postMessage = postMessage;
    for (const send of held) send();
    return { before, gone, after };
  }, id('timeline'));
  expect(colored.before).toBeGreaterThan(1000);
  expect(colored.gone).toBe(0);
  expect(colored.after).toBeGreaterThan(colored.before / 2);
});

it('requests the visible tracks while the zoom moves, and when it stops also those around them and enough for a short pan', async () => {
  const wheel = (change: WheelEventInit): Promise<void> =>
    page.$eval(
      id('timeline'),
      (canvas, how) => {
        const { x, y, width } = canvas.getBoundingClientRect();
        canvas.dispatchEvent(
          new WheelEvent('wheel', {
            ...how,
            clientX: x + width / 2,
            clientY: y + 30,
            bubbles: true,
            cancelable: true,
          }),
        );
      },
      change,
    );
  await page.evaluate(() => {
    const asked: Asked[] = [];
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (
      this: Worker,
      message: { method?: string; args: Asked[] },
      ...rest: [StructuredSerializeOptions]
    ) {
      if (message.method === 'timeline' && message.args[0]!.lanes) asked.push(message.args[0]!);
      postMessage.call(this, message, ...rest);
    } as typeof postMessage;
    Object.assign(window, { asked, unspy: () => (Worker.prototype.postMessage = postMessage) });
  });
  const asked = (): Promise<Asked[]> =>
    page.evaluate(() => (window as unknown as { asked: Asked[] }).asked);
  const frames = (): Promise<void> =>
    page.evaluate(async () => {
      for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
    });
  /**
   * Waits for the picture of a view that has stopped, which is twice as wide as the view.
   * @returns requests up to then
   */
  const resting = async (columns: number): Promise<Asked[]> => {
    await page.waitForFunction(
      (wide: number) =>
        (window as unknown as { asked: Asked[] }).asked.some(({ width }) => width >= wide),
      {},
      2 * columns - 2,
    );
    await frames();
    return asked();
  };
  try {
    await page.setViewport({ width: 1200, height: 420 });
    await frames();
    const columns = await page.$eval(
      id('timeline'),
      (canvas) => (canvas as HTMLCanvasElement).width,
    );
    await wheel({ deltaY: -100 });
    await resting(columns);
    await page.evaluate(() => void ((window as unknown as { asked: Asked[] }).asked.length = 0));
    await wheel({ deltaY: -100 });
    const all = await resting(columns);
    const rest = all.findLast(({ width }) => width >= 2 * columns - 2)!;
    const moving = all.filter(({ width }) => width < 2 * columns - 2);
    expect(moving.length).toBeGreaterThan(0);
    for (const { lanes, width, from, to } of moving) {
      expect(lanes.length).toBeGreaterThan(0);
      expect(rest.lanes).toEqual(expect.arrayContaining(lanes));
      expect(rest.lanes.length).toBeGreaterThan(lanes.length);
      expect(width).toBeGreaterThan(columns * 1.2);
      expect((rest.to - rest.from) / rest.width).toBeCloseTo((to - from) / width, 6);
    }
    // a sixth of the width to the right, which is painted already
    await wheel({ shiftKey: true, deltaY: 200 });
    await wheel({ altKey: true, deltaY: 40 }); // and tracks below
    await frames();
    expect(await asked()).toHaveLength(all.length);
  } finally {
    await page.evaluate(() => (window as unknown as { unspy: () => void }).unspy());
    await page.setViewport({ width: 1200, height: 800 });
    await page.keyboard.press('0');
  }
});
