// With forged lengths and offsets, analyses still end, and their memory depends on the number of
// events, not on the forged numbers.
import { describe, expect, test } from 'vitest';
import { MOST_SPAN, pagesTouched } from '../../src/analysis/core/pages-touched.ts';
import { MOST_SPANS } from '../../src/analysis/pages/accesses.ts';
import { DistinctPlaces } from '../../src/analysis/core/distinct-places.ts';
import { placesOf } from '../../src/analysis/pages/pages.ts';
import { Holders, MOST_CELLS, MOST_FAR } from '../../src/analysis/pages/rereads.ts';
import { Slots } from '../../src/analysis/core/slots.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import {
  blockAccessesOf,
  checkpointsOf,
  missRatiosOf,
  pageAccessesOf,
  transactionAnatomies,
} from '../traces/analyses.ts';

const PAGE = 4096;

function database(): { t: ThreadBuilder; db: number } {
  const t = new ThreadBuilder(newStore());
  const db = t.file('app.db');
  for (let page = 0; page < 8; page++)
    t.call('xRead', { object: db, offset: page * PAGE, length: PAGE });
  return { t, db };
}

describe('page accesses', () => {
  test("a read of 4 GiB isn't assigned to pages; one of 65,536 pages is", () => {
    const { t, db } = database();
    t.call('xRead', { object: db, offset: 0, length: 0xfffff000 });
    t.call('xRead', { object: db, offset: 0, length: MOST_SPAN * PAGE });
    t.send();
    const accesses = pageAccessesOf(t.store);
    expect(accesses.count).toBe(9);
    expect(accesses.objects[0]).toMatchObject({ untied: 1, highest: MOST_SPAN });
    expect(placesOf(accesses)[0]!.places.count).toBe(MOST_SPAN);
  });

  test('all calls together stay within the limit', () => {
    const { t, db } = database();
    const calls = MOST_SPANS / MOST_SPAN + 40;
    for (let i = 0; i < calls; i++)
      t.call('xWrite', { object: db, offset: i * MOST_SPAN * PAGE, length: MOST_SPAN * PAGE });
    t.send();
    const accesses = pageAccessesOf(t.store);
    let places = 0;
    for (let i = 0; i < accesses.count; i++) places += accesses.span[i]! - 1;
    expect(places).toBeLessThanOrEqual(MOST_SPANS);
    expect(accesses.objects[0]!.untied).toBe(8 + calls - accesses.count);
    expect(accesses.objects[0]!.untied).toBeGreaterThanOrEqual(39);
  });

  test('a frame far out in the log allocates no array up to it', () => {
    const { t } = database();
    const wal = t.file('app.db-wal', 'wal');
    const frame = PAGE + 24;
    const far = 32 + 60_000_000 * frame;
    for (const [at, page] of [
      [32, 7],
      [far, 8],
    ] as const) {
      t.call('xWrite', { object: wal, offset: at, length: 24, aux: page });
      t.call('xWrite', { object: wal, offset: at + 24, length: PAGE });
    }
    t.send();
    const before = process.memoryUsage().arrayBuffers;
    const accesses = pageAccessesOf(t.store);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 << 20);
    expect([...accesses.place.subarray(8, accesses.count)]).toEqual([7, 8]);
  });

  test('thousands of connections, each with a page far out, allocate no array up to it, and what was dropped is reported', () => {
    const { t, db } = database();
    const pages = 6000;
    for (let page = 0; page < pages; page++)
      t.call('xRead', { object: db, context: 1, offset: page * PAGE, length: PAGE });
    // arrays up to each page would be 6,000 x 6,000 cells of 4 bytes
    for (let n = 0; n < pages; n++)
      t.call('xRead', { object: db, context: 2 + n, offset: (pages - 1) * PAGE, length: PAGE });
    t.call('xRead', { object: db, context: 1 + pages, offset: (pages - 1) * PAGE, length: PAGE });
    t.send();
    const accesses = pageAccessesOf(t.store);
    const before = process.memoryUsage().arrayBuffers;
    const [table] = placesOf(accesses);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MOST_CELLS * 4 + (8 << 20));
    expect(table).toMatchObject({
      placesRead: pages,
      reads: 8 + 2 * pages + 1,
      rereads: 1,
      untold: 0,
    }); // pages without an array are stored too
  });

  test('holders: beyond the limit an access counts as unknown, never as a repeated read', () => {
    const holders = new Holders();
    holders.access(0, MOST_CELLS - 1, 1, false); // uses up all cells
    // one assertion at the end, because one for each access takes 20 s
    let wrong = 0;
    for (let n = 0; n < MOST_FAR; n++)
      if (holders.access(1, n, 2 + n, false) || holders.untold > 0) wrong++;
    expect(wrong).toBe(0);
    const ordinal = MOST_FAR + 2;
    expect([
      holders.access(2, 5, ordinal, false),
      holders.access(2, 5, ordinal + 1, false),
      holders.untold,
    ]).toEqual([false, false, 2]);
    expect([
      holders.access(0, MOST_CELLS - 1, ordinal + 2, false),
      holders.access(1, 5, ordinal + 3, false),
    ]).toEqual([true, true]);
  });

  test('their curves end', () => {
    const { t, db } = database();
    t.call('xRead', { object: db, offset: 2 ** 44 - PAGE, length: 0xfffff000 });
    t.call('xRead', { object: db, offset: 2 ** 44, length: PAGE });
    t.send();
    expect(missRatiosOf(t.store).length).toBe(1);
  });
});

test("blocks: keys that aren't exact numbers are assigned to no block", () => {
  const t = new ThreadBuilder(newStore());
  const file = t.define({ kind: 'opfs-file', path: 'a.db' });
  for (let i = 0; i < 4; i++)
    t.call('opfsWrite', { object: file, offset: i * PAGE, length: PAGE, result: PAGE });
  for (const offset of [2 ** 63, 1e300])
    t.call('opfsWrite', { object: file, offset, length: 0xfffff000, result: 1 });
  t.send();
  const accesses = blockAccessesOf(t.store);
  expect([accesses.count, accesses.objects[0]!.untied]).toEqual([4, 2]);
});

describe('a checkpoint', () => {
  test("that writes at an offset where pages can't be distinguished ends", () => {
    const { t, db } = database();
    const wal = t.file('app.db-wal', 'wal');
    t.call('xWrite', { object: wal, offset: 32, length: 24, aux: 1, aux2: 8 });
    t.call('xWrite', { object: wal, offset: 56, length: PAGE });
    t.call('xFileControl', { object: db, aux: 39 });
    t.call('xRead', { object: wal, offset: 56, length: PAGE });
    t.call('xWrite', { object: db, offset: 2 ** 63, length: 0xfffff000 }); // adding a page to it changes nothing
    t.call('xWrite', { object: db, offset: 0, length: PAGE });
    t.call('xFileControl', { object: db, aux: 37 });
    t.send();
    expect(checkpointsOf(t.store)).toMatchObject([{ pages: 1, dbWrites: 2, pagesLeft: 0 }]);
  });

  test.each([
    [0, 4096, { first: 1, count: 1 }],
    [4096, 8192, { first: 2, count: 2 }],
    [100, 4096, { first: 1, count: 2 }],
    [0, 0, { first: 1, count: 0 }],
    [-1, 4096, { first: 1, count: 0 }],
    [NaN, 4096, { first: 1, count: 0 }],
    [2 ** 53, 4096, { first: 1, count: 0 }],
    [0, 0xffffffff, { first: 1, count: 0 }],
  ])('offset %d, %d bytes', (offset, length, touched) =>
    expect(pagesTouched(offset, length, 4096)).toEqual(touched),
  );
});

/** How many more bytes arrays take after the work than before it. */
function arrayBytes(work: () => unknown): number {
  const before = process.memoryUsage().arrayBuffers;
  const kept = work();
  const after = process.memoryUsage().arrayBuffers;
  return kept === undefined ? 0 : after - before;
}

describe('numbers by place', () => {
  const FAR = [2 ** 26 - 1, 2 ** 31, 2 ** 40 + 0.5, 2 ** 60, -3, 1e300];

  test('slots are dense, in order of arrival, whether places are close, far out, or close only later', () => {
    const slots = new Slots();
    const known = new Map<number, number>();
    const places = [...FAR, 40_000, ...Array.from({ length: 5000 }, (_, i) => i * 10), 0.25, NaN];
    for (const place of [...places, ...places]) {
      if (!known.has(place)) known.set(place, known.size);
      expect([place, slots.slot(place)]).toEqual([place, known.get(place)]);
    }
    expect(slots.count).toBe(new Set(places).size);
  });

  test('a place far out allocates no array up to it, and many of them take little memory', () => {
    expect(arrayBytes(() => FAR.map((place) => new Slots().slot(place)))).toBeLessThan(1 << 16);
    const many = arrayBytes(() => {
      const slots = new Slots();
      for (let i = 0; i < 100_000; i++) slots.slot((i * 2_654_435_761) % 2 ** 40);
      return slots;
    });
    expect(many).toBeLessThan(100_000 * 64 * 2);
  });

  test('distinct places are those added since the last clear, without the deleted ones', () => {
    const places = new DistinctPlaces();
    for (const place of [...FAR, ...FAR, 7, 7]) places.add(place);
    expect(places.size).toBe(FAR.length + 1);
    for (const place of [7, 7, 8, FAR[0]!]) places.delete(place);
    expect(places.size).toBe(FAR.length - 1);
    places.add(7);
    expect(places.size).toBe(FAR.length);
    places.clear();
    places.delete(7);
    expect(places.size).toBe(0);
  });
});

test('a connection that reads a page far out allocates no array up to it, and its pages count', () => {
  const { t, db } = database();
  const far = (2 ** 26 - 1) * PAGE;
  for (let n = 0; n < 3; n++) t.call('xRead', { object: db, offset: far, length: PAGE });
  t.call('xWrite', { object: db, offset: 2 ** 43, length: PAGE });
  t.send();
  let curves: ReturnType<typeof missRatiosOf> = [];
  expect(arrayBytes(() => (curves = missRatiosOf(t.store)))).toBeLessThan(1 << 20);
  expect(curves).toMatchObject([
    { requests: 11, again: { count: 2 }, hot: true, distinctPages: 10 },
  ]);
});

test('a transaction that reads and writes pages far out allocates no array up to them', () => {
  const { t, db } = database();
  t.call('xLock', { object: db, aux: 1 });
  t.call('xLock', { object: db, aux: 2 });
  for (const offset of [2 ** 30, 2 ** 33, 2 ** 33, 2 ** 50 + 100])
    t.call('xRead', { object: db, offset, length: PAGE });
  for (const offset of [2 ** 30, 2 ** 32 + 1])
    t.call('xWrite', { object: db, offset, length: PAGE });
  t.call('xUnlock', { object: db, aux: 0 });
  t.send();
  let anatomies: ReturnType<typeof transactionAnatomies> = [];
  expect(arrayBytes(() => (anatomies = transactionAnatomies(t.store)))).toBeLessThan(1 << 20);
  expect(anatomies).toMatchObject([{ pagesRead: 3, pagesWritten: 2 }]);
});
