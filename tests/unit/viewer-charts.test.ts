// The timeline's arithmetic: view, axis, layout, pixels. And the table's scaled scroll bar.
import fc from 'fast-check';
import { paintSyncs } from '../../src/viewer/ui/charts/io-map-canvas.ts';
import { IDB_WAIT } from '../../src/trace/lanes/lanes.ts';
import { describe, expect, it } from 'vitest';
import { SQL_PARTS } from '../../src/analysis/core/time-parts.ts';
import { TimelineLanes } from '../../src/timeline/timeline-lanes.ts';
import { roundStep, timeTicks } from '../../src/viewer/ui/charts/ticks.ts';
import {
  AXIS_HEIGHT,
  EVERYTHING,
  GROUP_HEIGHT,
  laneAt,
  layoutOf,
  type LaneChoice,
} from '../../src/viewer/ui/charts/timeline-layout.ts';
import { noteAt } from '../../src/viewer/ui/charts/timeline-overlay.ts';
import {
  paintArea,
  paintCalls,
  paintLock,
  paintOverview,
  paintSql,
  paintStorage,
  paintTime,
  pixelOf,
  type PaintColors,
  type Surface,
} from '../../src/viewer/ui/charts/timeline-paint.ts';
import { between, canFollow } from '../../src/viewer/ui/charts/eased-range.ts';
import {
  MIN_SPAN_US,
  clampRange,
  fitAll,
  fitEvent,
  followEnd,
  panBy,
  reveal,
  spanOf,
  zoomAt,
  type Range,
} from '../../src/viewer/ui/charts/viewport.ts';
import type { LaneFrame, LaneKind, ThreadRow } from '../../src/protocol/session.ts';
import {
  MAX_HEIGHT_PX,
  rowsOnScreen,
  scrollTopOf,
  wholeRows,
} from '../../src/viewer/ui/virtual-rows.ts';
import { syntheticStore } from '../traces/synthetic.ts';
import { partitionThread, timePieces } from '../traces/analyses.ts';

const anyRange = (most: number): fc.Arbitrary<Range> =>
  fc
    .tuple(
      fc.double({ min: 0, max: most, noNaN: true }),
      fc.double({ min: 0.5, max: most, noNaN: true }),
    )
    .map(([from, span]) => ({ from, to: from + span }));

describe('the view', () => {
  const extent = { from: 0, to: 1e6 };

  it('keeps the moment under the pointer in place', () => {
    const range = { from: 200_000, to: 400_000 };
    const zoomed = zoomAt(range, 250_000, 0.5, extent);
    expect(spanOf(zoomed)).toBeCloseTo(100_000, 6);
    expect((250_000 - zoomed.from) / spanOf(zoomed)).toBeCloseTo(0.25, 9);
  });

  it('never loses the trace, however one zooms and pans', () => {
    fc.assert(
      fc.property(
        anyRange(1e7),
        anyRange(1e7),
        fc.array(
          fc.tuple(
            fc.double({ min: 0.01, max: 100, noNaN: true }),
            fc.double({ min: -3, max: 3, noNaN: true }),
          ),
        ),
        (view, whole, moves) => {
          let range = clampRange(view, whole);
          for (const [factor, share] of moves)
            range = panBy(zoomAt(range, (range.from + range.to) / 2, factor, whole), share, whole);
          expect(spanOf(range)).toBeGreaterThanOrEqual(MIN_SPAN_US * 0.99);
          expect(range.from).toBeLessThan(fitAll(whole).to);
          expect(range.to).toBeGreaterThan(fitAll(whole).from);
        },
      ),
    );
  });

  it('fits an event with its surroundings, and moves no more than needed to reveal one', () => {
    const fitted = fitEvent(500, 100, extent);
    expect(fitted.from).toBeLessThan(500);
    expect(fitted.to).toBeGreaterThan(600);
    expect(spanOf(fitEvent(500, 0, extent))).toBe(500);
    const range = { from: 0, to: 1000 };
    expect(reveal(range, 100, 50, extent)).toBe(range);
    const moved = reveal(range, 5000, 50, extent);
    expect(spanOf(moved)).toBeCloseTo(1000, 6);
    expect(moved.from).toBeLessThan(5000);
    expect(moved.to).toBeGreaterThan(5050);
  });

  it('follows the newest data once the trace is longer than the screen', () => {
    expect(followEnd({ from: 0, to: 1000 }, { from: 0, to: 400 })).toEqual({ from: 0, to: 1000 });
    const followed = followEnd({ from: 0, to: 1000 }, { from: 0, to: 5000 });
    expect(spanOf(followed)).toBeCloseTo(1000, 6);
    expect(followed.to).toBeGreaterThan(5000);
  });
});

describe('the axis', () => {
  it('has round steps', () => {
    expect(
      [roundStep(90), roundStep(27), roundStep(1.8), roundStep(11_070)].map((s) =>
        Number(s.toPrecision(6)),
      ),
    ).toEqual([100, 50, 2, 20_000]);
  });
  it('writes distinct labels of one unit at least minPx apart', () => {
    fc.assert(
      fc.property(anyRange(1e8), fc.integer({ min: 100, max: 2400 }), (range, width) => {
        const ticks = timeTicks(range, width);
        expect(new Set(ticks.map((t) => t.label)).size).toBe(ticks.length);
        expect(new Set(ticks.map((t) => t.label.split(' ')[1])).size).toBeLessThanOrEqual(1);
        for (let i = 1; i < ticks.length; i++)
          expect(
            ((ticks[i]!.at - ticks[i - 1]!.at) / spanOf(range)) * width,
          ).toBeGreaterThanOrEqual(89);
      }),
    );
  });
  it('uses the unit that fits', () => {
    expect(timeTicks({ from: 0, to: 10 }, 500).map((t) => t.label)).toEqual([
      '0 µs',
      '2 µs',
      '4 µs',
      '6 µs',
      '8 µs',
      '10 µs',
    ]);
    expect(timeTicks({ from: 0, to: 2e6 }, 500)[1]!.label).toBe('0.5 s');
    expect(timeTicks({ from: 0, to: 1 }, 0)).toEqual([]);
  });
});

const thread = (index: number, kinds: LaneKind[]): ThreadRow => ({
  ...{
    index,
    id: String(index),
    kind: 'worker',
    title: `t${index}`,
    url: '',
    events: 1,
    dropped: 0,
    ended: null,
    engines: [],
    notes: [],
  },
  lanes: kinds.map((kind) => ({ key: `${index}:${kind}`, thread: index, kind, events: 1 })),
});

describe('the layout', () => {
  it('stacks groups without overlap, leaves out threads without tracks, and finds a track by its height', () => {
    const layout = layoutOf([thread(0, ['sql', 'vfs']), thread(1, []), thread(2, ['web', 'lock'])]);
    expect(layout.groups.map((g) => g.thread)).toEqual([0, 2]);
    const boxes = layout.groups.flatMap((g) => g.lanes);
    for (let i = 1; i < boxes.length; i++)
      expect(boxes[i]!.y).toBeGreaterThanOrEqual(boxes[i - 1]!.y + boxes[i - 1]!.height);
    for (const box of boxes) expect(laneAt(layout, box.y + 1)).toBe(box);
    expect(laneAt(layout, 1)).toBeNull();
    expect(layoutOf([thread(0, ['sql'])], { ...EVERYTHING, collapsed: new Set([0]) }).height).toBe(
      GROUP_HEIGHT,
    );
    expect(AXIS_HEIGHT).toBeGreaterThan(0);
  });
  it('has the busiest thread first once a recording has ended, and threads that did hardly anything on one line until it is opened', () => {
    const threads = [
      { ...thread(0, ['web']), events: 20 },
      { ...thread(1, ['time', 'sql']), events: 3000 },
      { ...thread(2, ['time', 'sql']), events: 9000 },
      { ...thread(3, ['web']), events: 5000 },
      { ...thread(4, ['marks', 'web']), events: 3 },
    ];
    const groups = (choice: Partial<LaneChoice>, growing = false): (number | string)[] =>
      layoutOf(threads, { ...EVERYTHING, ...choice }, 0, false, growing).groups.map((g) =>
        g.collapsed ? `${g.thread} closed` : g.thread,
      );
    expect(groups({})).toEqual([2, 1, 3, '0 closed', 4]);
    expect(groups({ opened: new Set([0]) })).toEqual([2, 1, 3, 0, 4]);
    expect(groups({ collapsed: new Set([2]), order: ['thread:4'] })).toEqual([
      ...[4, '2 closed', 1, 3, '0 closed'],
    ]);
    expect(groups({}, true), 'nothing moves while it grows').toEqual([1, 2, 0, 3, 4]);
  });
  it('pins, hides, filters, and orders as requested, and finds a pinned track wherever one has scrolled', () => {
    const threads = [thread(0, ['sql', 'vfs', 'lock']), thread(1, ['sql', 'vfs'])];
    const keys = (choice: Partial<LaneChoice>): string[][] => {
      const { pinned, groups } = layoutOf(threads, { ...EVERYTHING, ...choice });
      return [pinned, ...groups.map((g) => g.lanes)].map((lanes) => lanes.map((l) => l.key));
    };
    expect(keys({ pinned: ['1:vfs', '9:sql'] })).toEqual([
      ['1:vfs'],
      ['0:sql', '0:vfs', '0:lock'],
      ['1:sql'],
    ]);
    expect(keys({ hidden: new Set(['kind:vfs', '0:lock']) })).toEqual([[], ['0:sql'], ['1:sql']]);
    expect(keys({ hidden: new Set(['thread:0']) })).toEqual([[], ['1:sql', '1:vfs']]);
    // tracks that few users need appear when they are selected
    threads.push(thread(2, ['memory', 'cacheMemory']));
    expect(keys({ filter: 'T2' })).toEqual([[], ['2:memory']]);
    const chosen = { filter: 'T2', hidden: new Set(['kind:cacheMemory', 'kind:memory']) };
    expect(keys(chosen)).toEqual([[], ['2:cacheMemory']]);
    threads.pop();
    expect(keys({ order: ['thread:1', '0:lock'] })).toEqual([
      [],
      ['1:sql', '1:vfs'],
      ['0:lock', '0:sql', '0:vfs'],
    ]);
    expect(keys({ filter: 'T1' })).toEqual([[], ['1:sql', '1:vfs']]);
    const layout = layoutOf(threads, { ...EVERYTHING, pinned: ['1:vfs'] });
    for (const scrolled of [0, 30]) expect(laneAt(layout, 5, scrolled)?.key).toBe('1:vfs');
    const first = layout.groups[0]!.lanes[0]!;
    expect(laneAt(layout, layout.pinnedHeight + first.y + 1 - 10, 10)?.key).toBe('0:sql');
  });
});

const colors: PaintColors = {
  activity: Uint32Array.from([9, 10, 11, 12, 13, 14, 15, 16]),
  parts: Uint32Array.from([20, 21, 22, 23, 24, 25, 26, 27]),
  ...{
    statement: Uint32Array.from([0, 99, 30, 31, 32, 33, 34, 35]),
    accent: 98,
    neutral: 96,
    phases: Uint32Array.from([40, 41, 42, 43, 44, 45, 46, 47]),
    requests: Uint32Array.from([50, 51, 52, 53, 54, 55, 56, 57, 58]),
    background: 97,
  },
};
const surface = (width: number, height: number): Surface => ({
  pixels: new Uint32Array(width * height),
  width,
  height,
});
const frame = (key: string, busy: number[], activity: number[], stack?: number[]): LaneFrame => ({
  ...{
    key,
    busy: Uint8Array.from(busy),
    activity: Uint8Array.from(activity),
    slices: new Float32Array(0),
    labels: [],
  },
  ...(stack && { stack: Uint8Array.from(stack) }),
});
const columnOf = (s: Surface, x: number): number[] =>
  Array.from({ length: s.height }, (_, y) => s.pixels[y * s.width + x]!);

describe('where the time of statements went', () => {
  it('is drawn as in the time partition, column by column, and earlier as far as it is known', () => {
    const store = syntheticStore({ events: 20_000, clockStepUs: 5 });
    const lanes = new TimelineLanes(store);
    const [from, to] = store.extent();
    lanes.update(to);
    const width = 4000;
    const shares = (thread: number): number[] => {
      const [frame] = lanes.frames([`${thread}:time`], from, to, width);
      const us = Array<number>(SQL_PARTS.length).fill(0);
      frame!.stack!.forEach(
        (share, i) => (us[i % SQL_PARTS.length]! += ((share / 255) * (to - from)) / width),
      );
      return us;
    };
    const withSql = store.threads.filter((t) => lanes.callLanes.lane(`${t.index}:sql`));
    const before = withSql.map((t) => shares(t.index).reduce((a, b) => a + b, 0));
    lanes.settle();
    expect(withSql.length).toBeGreaterThan(0);
    withSql.forEach((thread, i) => {
      const parts = partitionThread(thread, { fromUs: from, toUs: to });
      const { index } = timePieces(thread);
      const sums = Array<number>(SQL_PARTS.length).fill(0);
      for (let n = 0; n < index.count; n++)
        sums[index.kind[n]!]! += index.endOf(n) - index.startOf(n);
      const exact = SQL_PARTS.map((part) => parts[`${part}Us`]);
      expect(sums).toEqual(exact.map((us) => Math.round(us * 1000)));
      // each column is rounded to 1/255 of its time, and up if it is touched at all
      shares(thread.index).forEach((us, part) =>
        expect(Math.abs(us - exact[part]!)).toBeLessThan((to - from) / 255),
      );
      const inSql = exact.reduce((a, b) => a + b, 0);
      expect(Math.abs(before[i]! - inSql)).toBeLessThan((to - from) / 60);
    });
  });
});

describe('the flag of a note', () => {
  const note = (
    id: number,
    fromUs: number,
  ): { id: number; fromUs: number; toUs: number; text: string } => ({
    id,
    fromUs,
    toUs: fromUs,
    text: '',
  });
  const scene = { notes: [note(1, 50), note(2, 54)], view: { from: 0, to: 100 }, width: 100 };
  const at = (x: number, y = 5): number | undefined => noteAt(scene, x, y)?.id;
  it('is found where it is drawn, the last one if several overlap', () => {
    expect([47, 49, 51, 53, 60, 65].map((x) => at(x))).toEqual([undefined, 1, 1, 2, 2, undefined]);
    expect(at(51, AXIS_HEIGHT)).toBeUndefined();
  });
});

describe('the pixels', () => {
  it('read theme colors, and no other notation', () => {
    expect(pixelOf('#102030')).toBe(0xff302010);
    expect(() => pixelOf('rgb(1, 2, 3)')).toThrow('#rrggbb');
  });
  it('draw calls as bars as high as their share, and never hide a touched column', () => {
    const s = surface(4, 10);
    paintCalls(s, frame('0:vfs', [0, 255, 128, 1], [0, 2, 3, 4]), 0, 10, colors, 2);
    expect(columnOf(s, 0)).toEqual(Array(10).fill(0));
    expect(columnOf(s, 1)).toEqual(Array(10).fill(11));
    expect(columnOf(s, 2)).toEqual([...Array<number>(5).fill(0), ...Array<number>(5).fill(12)]);
    expect(columnOf(s, 3)).toEqual([...Array<number>(8).fill(0), 13, 13]);
  });
  it('hatch an IndexedDB transaction without a request, and only that', () => {
    const s = surface(2, 6);
    const nine = { ...colors, activity: Uint32Array.from([...colors.activity, 17]) };
    paintStorage(s, frame('0:web', [255, 255], [IDB_WAIT, 2]), 0, 6, nine, 1);
    expect(columnOf(s, 0).map((pixel) => pixel === 17)).toEqual([
      ...[false, false, false, true, true, true],
    ]);
    expect(columnOf(s, 1)).toEqual(Array(6).fill(11));
  });
  it('draw syncs as ticks on the upper edge, with a dotted line if it fits', () => {
    const map = (columns: number[], width: number): number[] => {
      const s = surface(width, 12);
      const syncs = new Uint8Array(width);
      for (const x of columns) syncs[x] = 1;
      paintSyncs(syncs, s, { pixels: { ...colors, background: 97 } }, 1);
      return columnOf(s, columns[0]!).map((pixel) => (pixel === 13 ? 2 : pixel ? 1 : 0));
    };
    expect(map([3, 4, 5], 100)).toEqual([2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0]);
    expect(map([3], 100)).toEqual([2, 2, 2, 2, 2, 1, 0, 0, 1, 0, 0, 1]);
  });
  it('draw the lock level as steps', () => {
    const s = surface(3, 8);
    paintLock(s, frame('0:lock', [1, 4, 9], [5, 5, 5]), 0, 8, colors, 1);
    expect([0, 1, 2].map((x) => columnOf(s, x).filter((p) => p !== 0).length)).toEqual([2, 8, 8]);
  });
  it('fill statements, stack the parts of the time from the bottom, and leave no part out that took any', () => {
    const s = surface(2, 10);
    paintSql(s, frame('0:sql', [255, 0], [1, 0]), 0, 10, colors, 1);
    expect(columnOf(s, 0)).toEqual([0, ...Array<number>(8).fill(99), 0]);
    expect(columnOf(s, 1)).toEqual(Array(10).fill(0));
    const tinted = surface(1, 4);
    paintSql(tinted, frame('0:sql', [255], [3]), 0, 4, colors, 1);
    expect(columnOf(tinted, 0), 'an INSERT').toEqual([0, 31, 31, 0]);
    const t = surface(2, 10);
    paintTime(
      t,
      frame('0:time', [], [], [128, 102, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0]),
      0,
      10,
      colors,
      1,
    );
    expect(columnOf(t, 0)).toEqual(
      [23, 21, 21, 21, 21, 20, 20, 20, 20, 20].map((p, i) => (i === 0 ? 23 : p)),
    );
    expect(columnOf(t, 1)).toEqual(Array(10).fill(25));
  });
  it('hatch what is not analyzed yet', () => {
    const s = surface(2, 8);
    const parts = Array.from({ length: 2 }, () => [255, 0, 0, 0, 0, 0, 0, 0, 0]).flat();
    paintTime(s, { ...frame('0:time', [], [], parts), exact: 1 }, 0, 8, colors, 1);
    expect(columnOf(s, 0)).toEqual(Array(8).fill(20));
    const hatch = columnOf(s, 1).map((pixel) => pixel === colors.background);
    expect(hatch).toEqual(
      [3, 7].reduce((all, y) => all.with(y, true), Array<boolean>(8).fill(false)),
    );
  });
  it('draw a counter as an area below its line, and nothing where it is unknown', () => {
    const s = surface(3, 10);
    paintArea(s, Float32Array.from([5, NaN, 0.001]), 10, 0, 10, { line: 7, area: 8 });
    expect(columnOf(s, 0)).toEqual([0, 0, 0, 0, 0, 7, 7, 8, 8, 8]);
    expect(columnOf(s, 1)).toEqual(Array(10).fill(0));
    expect(columnOf(s, 2)).toEqual([...Array<number>(9).fill(0), 7]);
  });
  it('stack threads in the overview and stay inside it; without SQL they show storage calls', () => {
    const s = surface(1, 10);
    const time = (thread: number): LaneFrame =>
      frame(`${thread}:time`, [], [], [128, 64, 0, 0, 0, 0, 0, 0]);
    paintOverview(
      s,
      [time(0), frame('0:web', [255], [4]), time(1), frame('2:web', [255], [3])],
      colors,
      1,
    );
    const column = columnOf(s, 0);
    expect(column).toHaveLength(10);
    expect(column.filter((p) => p === 20).length + column.filter((p) => p === 21).length).toBe(10);
    const alone = surface(1, 10);
    paintOverview(alone, [frame('2:web', [255], [3])], colors, 1);
    expect(columnOf(alone, 0)).toEqual(Array(10).fill(12));
  });
});

describe('rows of a long table', () => {
  it('shows every row at some scroll position, whole and in place', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20_000_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 100, max: 2000 }),
        (total, share, viewport) => {
          const row = Math.min(total - 1, Math.floor(share * total));
          const scrollTop = scrollTopOf(row, total, 20, viewport);
          const rows = rowsOnScreen(total, 20, scrollTop, viewport);
          expect(rows.height).toBeLessThanOrEqual(MAX_HEIGHT_PX);
          expect(row).toBeGreaterThanOrEqual(rows.first);
          expect(row).toBeLessThan(rows.first + rows.count);
          const y = rows.top + (row - rows.first) * 20 - scrollTop;
          expect(y).toBeGreaterThanOrEqual(-20);
          expect(y).toBeLessThanOrEqual(viewport);
        },
      ),
    );
  });
  it('reports which rows are fully visible', () => {
    const total = 5_000_000;
    expect(wholeRows(100, 20, 0, 110)).toEqual({ from: 0, to: 5 });
    expect(wholeRows(100, 20, 30, 110)).toEqual({ from: 2, to: 7 });
    expect(wholeRows(3, 20, 0, 110)).toEqual({ from: 0, to: 3 });
    expect(wholeRows(total, 20, MAX_HEIGHT_PX - 600, 600)).toEqual({ from: total - 30, to: total });
  });
  it('shows the last row at the bottom, also below a sticky heading', () => {
    const total = 5_000_000;
    for (const heading of [0, 22]) {
      const [container, scrolled] = [600, heading + MAX_HEIGHT_PX];
      const scrollTop = scrolled - container;
      const rows = rowsOnScreen(total, 20, scrollTop, container - heading);
      expect(rows.first + rows.count).toBe(total);
      const bottom = heading + rows.top + rows.count * 20 - scrollTop;
      expect(bottom).toBe(container);
      expect(scrollTopOf(total - 1, total, 20, container - heading)).toBe(scrollTop);
    }
    expect(rowsOnScreen(0, 20, 0, 600).count).toBe(0);
  });
});

describe('an animated view', () => {
  it('begins at its start, ends at its target, and is past the middle at half the time', () => {
    const [from, to] = [
      { from: 0, to: 100 },
      { from: 50, to: 60 },
    ];
    expect(between(from, to, 0)).toEqual(from);
    expect(between(from, to, 1)).toEqual(to);
    expect(between(from, to, 0.5)).toEqual({ from: 43.75, to: 65 });
  });
  it('is shown if the motion is easy to follow', () => {
    const now = { from: 0, to: 100 };
    expect(canFollow(now, { from: 10, to: 20 })).toBe(true);
    expect(canFollow(now, { from: 300, to: 400 })).toBe(true);
    expect(canFollow(now, { from: 900, to: 1000 })).toBe(false);
    expect(canFollow(now, { from: 10, to: 11 })).toBe(false);
  });
});
