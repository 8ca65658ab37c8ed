// The timeline by hand: notes added while the session is busy, tips under the pointer, canceled
// drags, edited addresses.
import { describe, expect, it } from 'vitest';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceNote } from '../../src/trace/notes.ts';
import { formatDuration } from '../../src/text/numbers.ts';
import { holdMessages } from './held-messages.ts';
import { id, viewHarness } from './view-harness.ts';

const TRACE = 'checkpoint-storm';
const panel = viewHarness([TRACE]);

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}
const AXIS_Y = 8;
const boxOf = async (selector: string): Promise<Box> =>
  (await (await panel.page.$(selector))!.boundingBox())!;
const view = (): Promise<{ from: number; to: number }> =>
  panel.page.$eval(id('timeline'), (e) => ({
    from: Number((e as HTMLElement).dataset.from),
    to: Number((e as HTMLElement).dataset.to),
  }));
const text = (name: string): Promise<string> =>
  panel.page.$eval(id(name), (e) => e.textContent!.trim());
/** Opens the timeline and waits for its picture. */
async function open(): Promise<Box> {
  await panel.open(TRACE, 'timeline');
  await panel.waitFor(`${id('timeline')}[data-frame]:not([data-waiting])`);
  return boxOf(id('timeline'));
}
/** Resolves when the view has changed. */
const moved = (before: { from: number }): Promise<unknown> =>
  panel.page.waitForFunction(
    (s: string, from: string) => document.querySelector<HTMLElement>(s)!.dataset.from !== from,
    {},
    id('timeline'),
    String(before.from),
  );
/** Middle of a track, found by the end of its key. */
const laneY = async (kind: string): Promise<number> => {
  const { y, height } = await boxOf(
    `.lane-box:has([data-testid^="buttons-"][data-testid$=":${kind}"])`,
  );
  return y + height / 2;
};
async function savedNotes(): Promise<readonly TraceNote[]> {
  await panel.page.keyboard.down('Control');
  await panel.page.keyboard.press('s');
  await panel.page.keyboard.up('Control');
  await panel.page.waitForFunction(() => window.panel.saved.length === 1);
  const bytes = await panel.page.evaluate(async () => [
    ...new Uint8Array(await window.panel.saved[0]!.data.arrayBuffer()),
  ]);
  return (await readTrace(Uint8Array.from(bytes))).store.annotations.notes;
}

describe('notes', () => {
  it('that are set, edited, and deleted while the session is busy are all stored', async () => {
    const box = await open();
    const worker = await holdMessages(panel.page, 'setAnnotations');
    for (let i = 0; i < 3; i++) {
      await panel.page.keyboard.press('b');
      await panel.waitFor(`${id('note-here')}:focus`);
      await panel.page.keyboard.press('Escape');
      await panel.page.waitForSelector(id('note-here'), { hidden: true });
    }
    await panel.click(id('notes-menu'));
    await panel.waitFor(`${id('note')}:nth-of-type(3)`);
    await panel.page.type(id('note-text'), 'first');
    await panel.page.click(`${id('note')}:nth-of-type(3) [aria-label="Delete the note"]`);
    await panel.page.type(`${id('note')}:nth-of-type(2) ${id('note-text')}`, 'second');
    await panel.click(id('add-note'));
    await panel.waitFor(`${id('note-here')}:focus`);
    // a click outside the field closes it
    await panel.page.mouse.click(box.x + 100, box.y + AXIS_Y);
    await panel.page.waitForSelector(id('note-here'), { hidden: true });
    expect(await panel.page.$(id('note-list'))).toBeNull();
    await worker.release();
    expect((await savedNotes()).map((note) => note.text)).toEqual(['first', 'second', '']);
  });

  it('show their text at their flag, and a click there opens them for editing', async () => {
    const box = await open();
    const before = await view();
    await panel.page.keyboard.press('b');
    await panel.waitFor(`${id('note-here')}:focus`);
    // w, a, s, g, r, m, i: keys of the panel
    await panel.page.keyboard.type('look <b>here</b> was grim');
    for (let i = 0; i < ' was grim'.length; i++) await panel.page.keyboard.press('Backspace');
    await panel.page.keyboard.press('Enter');
    await panel.page.waitForSelector(id('note-here'), { hidden: true });
    expect(await view()).toEqual(before);
    expect(await panel.page.$(id('io-map'))).not.toBeNull();
    expect(await panel.page.$(id('area'))).toBeNull();
    const flag = box.x + box.width / 2 + 3;
    await panel.page.mouse.move(flag, box.y + AXIS_Y);
    await panel.waitText(id('pointed'), 'look <b>here</b>');
    await panel.page.mouse.click(flag, box.y + AXIS_Y);
    await panel.waitFor(`${id('note-here')}:focus`);
    expect(await panel.page.$(id('area'))).toBeNull();
  });
});

it('a plain wheel zooms at the pointer, however many tracks there are; with Alt it scrolls them', async () => {
  const box = await open();
  await panel.page.setViewport({ width: 1200, height: 420 }); // less space than the tracks need
  const before = await view();
  await panel.page.mouse.move(box.x + box.width / 4, box.y + 60);
  await panel.page.mouse.wheel({ deltaY: -200 });
  await moved(before);
  await panel.waitFor(`${id('timeline')}[data-frame]:not([data-waiting])`);
  const near = await view();
  expect((near.to - near.from) / (before.to - before.from)).toBeLessThan(0.8);
  const scrolled = (): Promise<number> => panel.page.$eval('.gutter .scroll', (e) => e.scrollTop);
  expect(await scrolled()).toBe(0);
  await panel.page.keyboard.down('Alt');
  await panel.page.mouse.wheel({ deltaY: 60 });
  await panel.page.keyboard.up('Alt');
  await expect.poll(scrolled).toBe(60);
  expect(await view()).toEqual(near);
});

it('the legend stays readable in a narrow panel', async () => {
  await open();
  for (const width of [1200, 554, 400]) {
    await panel.page.setViewport({ width, height: 800 });
    const words = await panel.page.$$eval(`${id('legend')} li`, (all) =>
      all.map((li) => {
        const span = li.querySelector('.long')!.getBoundingClientRect();
        const corner = li.closest('.corner')!.getBoundingClientRect();
        const inside = span.right <= corner.right + 1 && span.bottom <= corner.bottom + 1;
        return inside && span.width > 5 ? li.querySelector('.long')!.textContent : null;
      }),
    );
    expect(words, `at ${width} px`).toEqual([
      'CPU',
      'read',
      'write',
      'sync',
      'IDB',
      'lock',
      'wait',
    ]);
  }
});

describe('the pointer', () => {
  it('is the center of zooming by W and S while it is over the timeline, else the middle is', async () => {
    const box = await open();
    const all = await view();
    const span = all.to - all.from;
    await panel.page.mouse.move(box.x + box.width / 4, box.y + 60);
    await panel.waitFor(id('moment'));
    await panel.page.keyboard.press('w');
    await moved(all);
    const near = await view();
    expect((near.to - near.from) / span).toBeCloseTo(1 / 1.5, 3);
    expect((near.from * 3 + near.to) / 4).toBeCloseTo((all.from * 3 + all.to) / 4, -2);
    await panel.page.mouse.move(box.x + 10, 2);
    await panel.page.waitForSelector(id('moment'), { hidden: true });
    await panel.page.keyboard.press('w');
    await moved(near);
    const middle = await view();
    expect((middle.from + middle.to) / 2).toBeCloseTo((near.from + near.to) / 2, -2);
  });

  it('has its moment at the axis, and its length while an area is dragged; Escape cancels the drag', async () => {
    const box = await open();
    const { from, to } = await view();
    const usAt = (x: number): number => from + (x / box.width) * (to - from);
    const [begin, end] = [Math.round(box.width * 0.3), Math.round(box.width * 0.5)];
    const moment = async (): Promise<number> => parseFloat(await text('moment')) * 1e6;
    await panel.page.mouse.move(box.x + begin, box.y + AXIS_Y);
    await panel.waitFor(id('moment'));
    const usPerPx = (to - from) / box.width;
    expect(Math.abs((await moment()) - usAt(begin))).toBeLessThan(1.5 * usPerPx);
    await panel.page.mouse.down();
    await panel.page.mouse.move(box.x + end, box.y + AXIS_Y, { steps: 3 });
    await panel.waitText(id('moment'), formatDuration((end - begin) * usPerPx));
    await panel.page.keyboard.press('Escape');
    await panel.page.waitForFunction(
      (s: string) =>
        / s$/.test(document.querySelector(s)!.textContent!) &&
        /\.\d{6} /.test(document.querySelector(s)!.textContent!),
      {},
      id('moment'),
    );
    await panel.page.mouse.up();
    // the same with a drag that moves the view
    await panel.page.mouse.move(box.x + end, box.y + 60);
    await panel.page.mouse.down();
    await panel.page.mouse.move(box.x + begin, box.y + 60, { steps: 3 });
    await moved({ from });
    await panel.page.keyboard.press('Escape');
    await panel.page.waitForFunction(
      (s: string, at: string) => document.querySelector<HTMLElement>(s)!.dataset.from === at,
      {},
      id('timeline'),
      String(from),
    );
    await panel.page.mouse.up();
    expect(await panel.page.$(id('area'))).toBeNull();
    expect(await view()).toEqual({ from, to });
  });

  it('over a counter or the track of CPU and I/O shows their values', async () => {
    const box = await open();
    const x = box.x + box.width / 2;
    const told: Record<string, string> = {};
    for (const kind of ['time', 'writes']) {
      await panel.page.mouse.move(x, await laneY(kind));
      await panel.waitFor(id('pointed'));
      told[kind] = await text('pointed');
      await panel.page.mouse.move(x, box.y + AXIS_Y);
      await panel.page.waitForSelector(id('pointed'), { hidden: true });
    }
    expect(told.time).toMatch(
      /^(No SQL runs|(CPU|Read|Write|Sync|Lock calls|Lock wait|Other wait)\s+[<\d.]+ %)/,
    );
    expect(told.writes).toMatch(/^Written: [\d.]+ ([KM]i)?B\/s over [\d.]+ [nmµ]?s$/);
  });

  it('shows no event that keys have moved away from it', async () => {
    const box = await open();
    const y = await laneY('vfs');
    let x = box.x + 40;
    for (; x < box.x + box.width && !(await panel.page.$(id('tooltip'))); x += 7) {
      await panel.page.mouse.move(x, y);
      await panel.page.evaluate(
        () =>
          new Promise<void>((done) =>
            requestAnimationFrame(() => requestAnimationFrame(() => done())),
          ),
      );
    }
    await panel.waitFor(id('tooltip'));
    // before the trace begins, as far as possible
    for (let i = 0; i < 12; i++) await panel.page.keyboard.press('a');
    for (let i = 0; i < 12; i++) await panel.page.keyboard.press('d'); // and after its end
    for (let i = 0; i < 6; i++) await panel.page.keyboard.press('d');
    const { from, to } = await view();
    const under = from + ((x - 7 - box.x) / box.width) * (to - from);
    await panel.page.waitForFunction(
      (tip: string, us: number, slack: number) => {
        const said = document.querySelector(`${tip} .subtle`);
        return !said || Math.abs(parseFloat(said.textContent!) * 1e6 - us) < slack;
      },
      {},
      id('tooltip'),
      under,
      (to - from) / 20,
    );
  });

  it('queries the I/O map under it with one request at a time', async () => {
    await open();
    await panel.waitFor(`${id('io-map-canvas')}[data-map]`);
    const map = await boxOf(id('io-map-canvas'));
    const worker = await holdMessages(panel.page, 'ioAt');
    for (let i = 0; i < 8; i++)
      await panel.page.mouse.move(map.x + 50 + 10 * i, map.y + map.height / 2);
    expect(await worker.kept()).toBe(1);
    await worker.release();
  });
});

it('pictures are as sharp as the screen to which the window is moved', async () => {
  await open();
  await panel.waitFor(`${id('io-map-canvas')}[data-map]`);
  const ratios = (): Promise<number[]> =>
    panel.page.$$eval(
      ['timeline', 'overview', 'io-map-canvas'].map((name) => `[data-testid="${name}"]`).join(),
      (all) =>
        (all as HTMLCanvasElement[]).map(
          (canvas) => Math.round((10 * canvas.width) / canvas.clientWidth) / 10,
        ),
    );
  expect(await ratios()).toEqual([1, 1, 1]);
  await panel.page.setViewport({ width: 1200, height: 700, deviceScaleFactor: 2 });
  // a picture of the page makes a browser without a window update
  await expect.poll(() => panel.page.screenshot().then(ratios)).toEqual([2, 2, 2]);
});

it("an edited address is applied: place, selection, and the timeline's setup", async () => {
  await open();
  const { from, to } = await view();
  const [near, far] = [from + (to - from) / 4, from + (to - from) / 2].map(Math.round) as [
    number,
    number,
  ];
  const put = (hash: string): Promise<void> =>
    panel.page.evaluate((text: string) => void (location.hash = text), hash);
  await put(
    `#tab=timeline&from=${near}&to=${far}&event=0:3&timeline.search=xSync&timeline.hidden=kind:vfs&timeline.map=0`,
  );
  await panel.page.waitForFunction(
    (s: string, a: number, b: number) => {
      const { from, to } = document.querySelector<HTMLElement>(s)!.dataset;
      return Number(from) === a && Number(to) === b;
    },
    {},
    id('timeline'),
    near,
    far,
  );
  await panel.waitFor(id('details'));
  await panel.waitFor(id('timeline-hits'));
  await panel.page.waitForSelector(id('io-map'), { hidden: true });
  await panel.page.waitForSelector('[data-testid$=":vfs"]', { hidden: true });
  expect(await panel.page.$eval(id('timeline-search'), (e) => (e as HTMLInputElement).value)).toBe(
    'xSync',
  );
  await put('#tab=timeline');
  await panel.page.waitForFunction(
    (s: string, a: string) => document.querySelector<HTMLElement>(s)!.dataset.from === a,
    {},
    id('timeline'),
    String(from),
  );
  await panel.waitFor(id('io-map'));
  await panel.waitFor('[data-testid$=":vfs"]');
  await panel.page.waitForSelector(id('details'), { hidden: true });
  await put('#tab=events&events.filter=no such thing');
  await panel.waitText(id('event-count'), '0 events');
});
