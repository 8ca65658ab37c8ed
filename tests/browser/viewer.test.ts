// The viewer in an ordinary tab: opens trace files, and what a user then sees and does.
import { describe, expect, it } from 'vitest';
import { saveTrace } from '../../src/trace/file/write.ts';
import { filesOf } from '../../src/analysis/files/files.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { id, ViewerPage } from './viewer-page.ts';
import { shownEvents } from './shown-events.ts';

const store = trace();
const viewer = new ViewerPage(files);
const open = viewer.open.bind(viewer);
const text = viewer.text.bind(viewer);
const waitText = viewer.waitText.bind(viewer);
const shot = viewer.shot.bind(viewer);
const view = viewer.view.bind(viewer);
const openTrace = async (name: string, more = ''): Promise<void> => {
  await open(`open=/traces/${name}&${more}`);
  await viewer.page.waitForSelector(`${id('timeline')}[data-frame]`);
};

/** 300 inserts on one thread, 40 selects with an error on another. */
function trace(): TraceStore {
  const made = newStore();
  const writer = new ThreadBuilder(made, { name: 'writer' });
  const insert = writer.define({ kind: 'sql', text: 'INSERT INTO note VALUES (?)' });
  const db = writer.file('/app.db');
  const idb = writer.define({ kind: 'idb-store', db: 'app', store: 'blocks' });
  for (let i = 0; i < 300; i++) {
    writer.call('sqlStep', { object: insert, dur: 200, result: 101 }, () => {
      writer.call('xLock', { object: db, aux: 1, dur: 20 });
      writer.call('xRead', { object: db, offset: 0, length: 4096, dur: 10 }, () =>
        writer.call('idbGet', { object: idb, dur: 300 }),
      );
      writer.call('xLock', { object: db, aux: 4, dur: 20 });
      writer.call('xWrite', { object: db, offset: i * 4096, length: 4096, dur: 10 }, () =>
        writer.call('idbPut', { object: idb, dur: 100 }),
      );
      writer.call('xSync', { object: db, dur: 700 });
      writer.call('xUnlock', { object: db, dur: 10 });
    });
    writer.idle(500);
  }
  const reader = new ThreadBuilder(made, { name: 'reader' });
  const file = reader.file('/other <b>.db');
  for (let i = 0; i < 40; i++) {
    reader.call('xRead', {
      object: file,
      offset: i * 1024,
      length: 1024,
      dur: 50,
      result: i === 7 ? 266 : 0,
    });
    reader.idle(100);
  }
  writer.send();
  reader.send();
  return made;
}

/** Complete trace files, and some that aren't. */
async function files(): Promise<Record<string, Uint8Array>> {
  const bytes = Buffer.from(await (await saveTrace(store)).arrayBuffer());
  const newer = Buffer.from(bytes);
  newer.writeUInt32LE(99, 8);
  return {
    ...{
      'good.vfst': bytes,
      'cut.vfst': bytes.subarray(0, bytes.length - 40),
      'newer.vfst': newer,
    },
    ...{ 'text.vfst': Buffer.from('{"not": "a trace"}'), 'empty.vfst': Buffer.alloc(0) },
  };
}

const viewChanges = async (
  act: () => Promise<unknown>,
): Promise<{ before: { from: number; to: number }; after: { from: number; to: number } }> => {
  const before = await view();
  await act();
  await viewer.page.waitForFunction(
    (s: string, from: number, to: number) => {
      const { dataset } = document.querySelector<HTMLElement>(s)!;
      return Number(dataset.from) !== from || Number(dataset.to) !== to;
    },
    {},
    id('timeline'),
    before.from,
    before.to,
  );
  return { before, after: await view() };
};
const span = (range: { from: number; to: number }): number => range.to - range.from;
/** Where an event of a track is on screen. */
async function pointOf(us: number, laneTitle: string, nth = 0): Promise<{ x: number; y: number }> {
  const { from, to } = await view();
  return viewer.page.evaluate(
    (canvas: string, share: number, title: string, n: number) => {
      const picture = document.querySelector(canvas)!.getBoundingClientRect();
      const lane = [...document.querySelectorAll('.lane')]
        .filter((e) => e.textContent === title)
        [n]!.getBoundingClientRect();
      return { x: picture.left + share * picture.width, y: lane.top + lane.height / 2 };
    },
    id('timeline'),
    (us - from) / (to - from),
    laneTitle,
    nth,
  );
}

describe('an opened trace', () => {
  it("shows the trace's own numbers in the strip and in the files table", async () => {
    await openTrace('good.vfst');
    await waitText(id('live-events'), store.eventCount.toLocaleString('en-US'));
    expect(await text(id('live-reads'))).toBe('340');
    expect(await text(id('live-writes'))).toBe('300');
    expect(await text(id('live-syncs'))).toBe('300');
    // one line about the recording, without what the views show
    await waitText(id('live-statements'), '300');
    expect(await viewer.page.$(id('live-cache-hit'))).toBeNull();
    await viewer.page.setViewport({ width: 2200, height: 640 }); // every column fits
    await viewer.page.keyboard.press('4');
    await viewer.page.waitForSelector(`${id('file-row')} [data-column=locks]`);
    const shown = await viewer.page.$$eval(id('file-row'), (rows) =>
      rows.map((row) => [
        (row as HTMLElement).dataset.path,
        ...['reads', 'writes', 'syncs', 'locks'].map(
          (c) => row.querySelector(`[data-column=${c}]`)!.textContent,
        ),
      ]),
    );
    const expected = filesOf(store)
      .sort((a, b) => b.timeUs - a.timeUs)
      .map((f) => [
        f.path,
        ...[f.reads, f.writes, f.syncs, f.locks].map((n) => n.toLocaleString('en-US')),
      ]);
    expect(shown).toEqual(expected);
    // a name is text, whatever it contains
    expect(shown.map(([path]) => path)).toContain('/other <b>.db');
    await viewer.page.click(id('sort-path'));
    expect(
      await viewer.page.$$eval(id('file-row'), (rows) =>
        rows.map((r) => (r as HTMLElement).dataset.path),
      ),
    ).toEqual(expected.map(([p]) => p!).sort((a, b) => a.localeCompare(b)));
    await shot('files');
  });

  it('zooms and pans by wheel, keys, drag, and overview', async () => {
    await openTrace('good.vfst');
    const canvas = (await (await viewer.page.$(id('timeline')))!.boundingBox())!;
    const at = { x: canvas.x + canvas.width / 4, y: canvas.y + 8 };
    await viewer.page.mouse.move(at.x, at.y);
    const wheel = await viewChanges(() => viewer.page.mouse.wheel({ deltaY: -300 }));
    const share = 0.25;
    expect(span(wheel.after)).toBeLessThan(span(wheel.before) * 0.7);
    expect(wheel.after.from + share * span(wheel.after)).toBeCloseTo(
      wheel.before.from + share * span(wheel.before),
      -1,
    );
    const keys: [
      string,
      (b: { from: number; to: number }, a: { from: number; to: number }) => void,
    ][] = [
      ['w', (b, a) => expect(span(a)).toBeCloseTo(span(b) / 1.5, 3)],
      ['d', (b, a) => expect(a.from - b.from).toBeCloseTo(span(b) * 0.2, 3)],
      ['a', (b, a) => expect(b.from - a.from).toBeCloseTo(span(b) * 0.2, 3)],
      ['s', (b, a) => expect(span(a)).toBeCloseTo(span(b) * 1.5, 3)],
    ];
    for (const [key, check] of keys) {
      const { before, after } = await viewChanges(() => viewer.page.keyboard.press(key as 'w'));
      check(before, after);
    }
    const drag = await viewChanges(async () => {
      await viewer.page.mouse.move(canvas.x + 400, canvas.y + 300);
      await viewer.page.mouse.down();
      await viewer.page.mouse.move(canvas.x + 300, canvas.y + 300, { steps: 4 });
      await viewer.page.mouse.up();
    });
    expect(drag.after.from).toBeGreaterThan(drag.before.from);
    const all = await viewChanges(() => viewer.page.keyboard.press('0'));
    const overview = (await (await viewer.page.$(id('overview')))!.boundingBox())!;
    const brush = await viewChanges(async () => {
      await viewer.page.mouse.move(overview.x + overview.width * 0.5, overview.y + 20);
      await viewer.page.mouse.down();
      await viewer.page.mouse.move(overview.x + overview.width * 0.75, overview.y + 20, {
        steps: 4,
      });
      await viewer.page.mouse.up();
    });
    expect(span(brush.after)).toBeCloseTo(span(all.after) / 4, -2);
    const back = await viewChanges(() =>
      viewer.page.mouse.click(overview.x + 5, overview.y + 20, { count: 2 }),
    );
    expect(span(back.after)).toBeCloseTo(span(all.after), 3);
  });

  it('selects by click, shows details, follows links, fits by F', async () => {
    await openTrace('good.vfst');
    const [t0, dur] = [store.threads[0]!.events.t0[0]!, store.threads[0]!.events.dur[0]!];
    await viewer.page.mouse.click(
      ...(Object.values(await pointOf(t0 + dur / 2, 'SQL')) as [number, number]),
    );
    await waitText(id('details-name'), 'sqlite3_step');
    expect(await text(id('details-statement'))).toBe('INSERT INTO note VALUES (?)');
    expect(await text(id('field-thread'))).toContain('writer');
    const fitted = await viewChanges(() => viewer.page.keyboard.press('f'));
    expect(span(fitted.after)).toBeCloseTo(dur * 1.5, 3);
    await viewer.page.waitForFunction(
      (s: string) => document.querySelectorAll(s).length === 6,
      {},
      id('child'),
    );
    await viewer.page.evaluate(
      (s: string) => document.querySelectorAll<HTMLElement>(s)[1]!.click(),
      id('child'),
    );
    await waitText(id('details-name'), 'xRead');
    expect(await text(id('field-object'))).toBe('/app.db');
    expect(await text(id('field-duration'))).toBe('310 µs');
    expect(await text(id('field-length'))).toBe('4 KiB (4,096)');
    await viewer.page.click(id('parent'));
    await waitText(id('details-name'), 'sqlite3_step');
    await shot('selected');
    const read = store.threads[0]!.events.row(2);
    await viewer.page.mouse.move(
      ...(Object.values(await pointOf(read.t0 + read.dur / 2, 'VFS')) as [number, number]),
    );
    await viewer.page.waitForSelector(id('tooltip'));
    await viewer.page.keyboard.press('Escape');
    await viewer.page.waitForSelector(id('details'), { hidden: true });
    // the bars under the pointer are painted, not blank
    const point = await pointOf(read.t0 + read.dur / 2, 'VFS');
    await viewer.page.waitForFunction(
      (element: Element | null, at: { x: number; y: number }) => {
        const canvas = element as HTMLCanvasElement;
        const box = canvas.getBoundingClientRect();
        const [red, , blue] = canvas
          .getContext('2d')!
          .getImageData(at.x - box.left, at.y - box.top, 1, 1).data;
        return blue! > red!; // reads are blue
      },
      { timeout: 30_000 },
      await viewer.page.$(id('timeline')),
      point,
    );
  });

  it('filters events by words, layers, errors, and the visible range', async () => {
    await openTrace('good.vfst');
    await viewer.page.keyboard.press('5');
    await viewer.page.waitForSelector(id('filter'));
    await viewer.page.keyboard.press('/');
    await waitText(
      id('event-count'),
      `${shownEvents(store.threads).toLocaleString('en-US')} events`,
    );
    await viewer.page.waitForFunction(
      (s: string) => document.activeElement?.matches(s),
      {},
      id('filter'),
    );
    await viewer.page.keyboard.type('xread app');
    await waitText(id('event-count'), '300 events');
    await viewer.page.$eval(id('filter'), (e) => (e as HTMLInputElement).select());
    await viewer.page.keyboard.type('insert');
    await waitText(id('event-count'), '2,700 events');
    await viewer.page.click(id('layer-vfs'));
    await waitText(id('event-count'), '900 events');
    await viewer.page.click(id('layer-vfs'));
    await viewer.page.$eval(id('filter'), (e) => (e as HTMLInputElement).select());
    await viewer.page.keyboard.press('Backspace');
    await viewer.page.click(id('errors-only'));
    await waitText(id('event-count'), '1 event');
    await viewer.page.waitForSelector(id('event-row'));
    expect(await text(id('event-row'))).toContain('IOERR_READ');
    await viewer.page.click(id('event-row'));
    await waitText(id('details-name'), 'xRead');
    await shot('filtered');
    await viewer.page.click(id('show-on-timeline'));
    await viewer.page.waitForSelector(id('timeline'));
    const range = await view();
    const { t0 } = store.threads[1]!.events.row(7);
    expect(range.from).toBeLessThan(t0);
    expect(range.to).toBeGreaterThan(t0);
    await viewer.page.keyboard.press('5');
    await waitText(id('event-count'), '1 event'); // the filter stays in other tabs
    await viewer.page.click(id('errors-only'));
    await viewer.page.click(id('in-view'));
    const inRange = store.threads.reduce(
      (n, { events }) =>
        n +
        [...events.t0.subarray(0, events.count)].filter(
          (t, i) => t < range.to && t + events.dur[i]! >= range.from,
        ).length,
      0,
    );
    await waitText(id('event-count'), `${inRange} event${inRange === 1 ? '' : 's'}`);
  });

  it('saves what it has read', async () => {
    await openTrace('good.vfst');
    await viewer.page.keyboard.down('Control');
    await viewer.page.keyboard.press('s');
    await viewer.page.keyboard.up('Control');
    await viewer.page.waitForFunction(() => window.panel.saved.length === 1);
    const [name, size] = await viewer.page.evaluate(() => [
      window.panel.saved[0]!.name,
      window.panel.saved[0]!.data.size,
    ]);
    expect(name).toBe('good.vfst');
    expect(size).toBeGreaterThan(1000);
    await viewer.page.evaluate(() =>
      window.panel.viewer.open(window.panel.saved[0]!.data, 'again.vfst'),
    );
    await waitText(id('file-name'), 'again.vfst');
    expect(await text(id('live-events'))).toBe(store.eventCount.toLocaleString('en-US'));
    await viewer.page.click(id('export'));
    await viewer.page.click(id('export-chrome'));
    await viewer.page.waitForFunction(() => window.panel.saved.length === 2);
    const events = await viewer.page.evaluate(
      async () =>
        (
          JSON.parse(await window.panel.saved[1]!.data.text()) as { traceEvents: { ph: string }[] }
        ).traceEvents.filter((e) => e.ph === 'X').length,
    );
    expect(events).toBe(store.eventCount);
  });
});

describe('a file that is not a complete trace', () => {
  it.each([
    ['text.vfst', 'looks like JSON'],
    ['empty.vfst', 'is empty'],
    ['newer.vfst', 'format version 99'],
  ])('%s is refused with its cause, and the viewer stays', async (name, cause) => {
    await open(`open=/traces/${name}`);
    await viewer.page.waitForSelector(`${id('toast')}[role=alert]`);
    const said = await text(id('toast'));
    expect(said).toContain(name);
    expect(said).toContain(cause);
    await shot(`error-${name}`);
    await viewer.page.click(`${id('toast')} button`);
    await viewer.page.waitForSelector(id('toast'), { hidden: true });
    expect(await text(id('empty-state'))).toContain('No recording open');
  });
  it('a truncated one is shown as far as it is complete, with a notice', async () => {
    await openTrace('cut.vfst');
    expect(await text(id('notice'))).toMatch(/cut off|end mark/);
    expect(await text(id('live-events'))).toBe(store.eventCount.toLocaleString('en-US'));
  });
});
