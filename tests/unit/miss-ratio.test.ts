// Stack distances compared with a plain LRU list, the miss-ratio curve compared with simulated
// caches, and what a curve must not claim.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { missRatioAt } from '../../src/analysis/cache/miss-ratio.ts';
import { StackDistances } from '../../src/analysis/cache/stack-distance.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { expectCheap } from './cpu-limit.ts';
import { missRatiosOf } from '../traces/analyses.ts';

/** A use of a page, before which the cache may be emptied. */
type Use = readonly [page: number, emptied: boolean];

/** Number of uses that hit in an LRU cache of `size` pages. */
function lruHits(uses: readonly Use[], size: number): number {
  let cache: number[] = [];
  let hits = 0;
  for (const [page, emptied] of uses) {
    if (emptied) cache = [];
    const at = cache.indexOf(page);
    if (at >= 0) {
      hits++;
      cache.splice(at, 1);
    }
    cache.unshift(page);
    if (cache.length > size) cache.pop();
  }
  return hits;
}

function distancesOf(uses: readonly Use[]): number[] {
  const stack = new StackDistances();
  return uses.map(([page, emptied]) => {
    if (emptied) stack.empty();
    return stack.use(page);
  });
}
const hitsAt = (distances: readonly number[], size: number): number =>
  distances.filter((d) => d > 0 && d <= size).length;

describe('stack distances', () => {
  test('the example of the header', () => {
    expect(distancesOf([0, 1, 2, 0, 1, 1, 3, 0].map((page) => [page, false]))).toEqual([
      0, 0, 0, 3, 3, 1, 0, 3,
    ]);
  });

  test('hits of every cache size are those of an LRU cache of that size', () => {
    const use = fc.tuple(fc.nat(11), fc.constantFrom(false, false, false, false, false, true));
    fc.assert(
      fc.property(fc.array(use, { maxLength: 200 }), (uses) => {
        const found = distancesOf(uses);
        for (let size = 1; size <= 13; size++)
          expect(hitsAt(found, size)).toBe(lruHits(uses, size));
      }),
      { numRuns: 300 },
    );
  });

  test('the line is compacted many times, grows, and nothing is lost', () => {
    let seed = 7;
    const random = (): number => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) / 2 ** 32;
    const uses = Array.from({ length: 30_000 }, (): Use => [
      Math.floor(900 * random() ** 3),
      random() < 0.001,
    ]);
    const found = distancesOf(uses);
    for (const size of [1, 2, 17, 100, 299, 800])
      expect(hitsAt(found, size)).toBe(lruHits(uses, size));
  });

  test('a million uses are cheap', () => {
    let seed = 1;
    const random = (): number => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) / 2 ** 32;
    const pages = Uint32Array.from({ length: 1_000_000 }, () => Math.floor(20_000 * random() ** 2));
    const warm = new StackDistances();
    for (const page of pages.subarray(0, 100_000)) warm.use(page);
    const began = process.cpuUsage();
    const stack = new StackDistances();
    for (const page of pages) stack.use(page);
    expect(stack.held).toBeGreaterThan(19_000);
    expectCheap(began, 1.5);
  });
});

const PAGE = 4096;
const read = (t: ThreadBuilder, db: number, page: number, context = 9): void => {
  t.call('xRead', { object: db, offset: (page - 1) * PAGE, length: PAGE, context });
};
/**
 * Reads pages of `app.db` on one connection, in one statement. The engine's counters also report
 * `hits` hits.
 */
function reading(
  pages: readonly number[],
  hits: number | null,
  pragma = '',
): { t: ThreadBuilder; db: number } {
  const t = new ThreadBuilder(newStore());
  const db = t.file('app.db');
  t.call('sqlOpen', { context: 9 });
  if (pragma)
    t.call('sqlStep', { object: t.define({ kind: 'sql', text: pragma }), context: 9, result: 101 });
  const sql = t.define({ kind: 'sql', text: 'SELECT 1' });
  t.call('sqlStep', { object: sql, context: 9, aux: 1, result: 101 }, () => {
    for (const page of pages) read(t, db, page);
  });
  if (hits !== null) t.call('sqlCounters', { offset: hits, length: pages.length, context: 9 });
  return { t, db };
}
const cycle = (distinct: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => 1 + (i % distinct));

describe('the curve', () => {
  test('no hits: every request was seen, so the curve is exact', () => {
    const { t } = reading(cycle(40, 400), 0);
    t.send();
    const [curve] = missRatiosOf(t.store);
    expect(curve).toMatchObject({
      kind: 'exact',
      requests: 400,
      reads: 400,
      cold: 40,
      avoidable: 360,
      distinctPages: 40,
      seenShare: 1,
      connection: 9,
      fromPages: 20,
    });
    expect(missRatioAt(curve!, 19)).toBeNull();
    // SQLite drops a page before it uses the last slot
    expect(missRatioAt(curve!, 40)).toBe(1);
    expect(missRatioAt(curve!, 41)).toBe(0.1);
    expect(missRatioAt(curve!, 5000)).toBe(0.1);
    expect(curve!.goal).toEqual({
      share: 0.95,
      pages: 41,
      kib: Math.ceil((41 * (PAGE + 136)) / 1024),
      hitRate: 0.9,
      avoided: 360,
    });
  });

  test('pages that were hit take cache space: as much as the cache has, or as there were hits', () => {
    // pages 1 to 60 in turn miss a cache of 31 pages; 1,000 more pages of the file were there
    // before
    const before = Array.from({ length: 1000 }, (_, i) => 1001 + i);
    const few = [...before, ...cycle(60, 600)];
    const sizes = (hits: number, pragma: string): (number | undefined)[] => {
      const { t } = reading(few, hits, pragma);
      t.send();
      const [curve] = missRatiosOf(t.store);
      return [curve!.goal?.pages, curve!.fromPages];
    };
    expect(sizes(5, 'PRAGMA cache_size=31')).toEqual([60 + 5 + 1, 31]);
    expect(sizes(100_000, 'PRAGMA cache_size=31')).toEqual([60 + 30 + 1, 31]);
    // without a PRAGMA it is what the reads allow; a cache that may be larger isn't reduced
    expect(sizes(5, '')).toEqual([483, 65]);
  });

  test('hits are requests, and the measured rate is on the curve', () => {
    const { t } = reading(cycle(60, 600), 1400, 'PRAGMA cache_size=30');
    t.send();
    const [curve] = missRatiosOf(t.store);
    expect(curve).toMatchObject({
      kind: 'at most',
      requests: 2000,
      reads: 600,
      seenShare: 0.3,
      measured: { hits: 1400, misses: 600, hitRate: 0.7 },
      fromPages: 30,
    });
    expect(missRatioAt(curve!, 29)).toBeNull();
    expect(missRatioAt(curve!, 30)).toBe(0.3);
    expect(missRatioAt(curve!, 61)).toBe(0.03); // no more than all pages of the database
  });

  test("reads of pages that fit in the cache aren't avoided by a larger one", () => {
    const { t } = reading(cycle(60, 600), 30, 'PRAGMA cache_size=200');
    t.send();
    expect(missRatiosOf(t.store)[0]).toMatchObject({
      again: { count: 540 },
      avoidable: 0,
      goal: null,
      fromPages: 200,
    });
  });

  test('without counters nothing is measured and nothing is exact', () => {
    const { t } = reading([1, 2, 3, 1, 2, 3], null);
    t.send();
    expect(missRatiosOf(t.store)[0]).toMatchObject({
      kind: 'at most',
      requests: 6,
      seenShare: null,
      measured: null,
      assumed: true,
    });
  });

  test('pages dirtied by one transaction stay in the cache until it ends', () => {
    const { t, db } = reading([1, 2, 3, 1], 0);
    t.call('xLock', { object: db, aux: 2, context: 9 });
    for (let page = 1; page <= 70; page++)
      t.call('xWrite', { object: db, offset: (page - 1) * PAGE, length: PAGE, context: 9 });
    read(t, db, 3);
    t.call('xFileControl', { object: db, aux: 22, context: 9 });
    t.call('xUnlock', { object: db, aux: 0, context: 9 });
    t.send();
    const [curve] = missRatiosOf(t.store);
    expect(curve).toMatchObject({ fromPages: 70, requests: 5 });
    // page 1: three pages; page 3: all 70, because the database has no more
    expect([curve!.hits[2], curve!.hits[3], curve!.hits[69], curve!.hits[70]]).toEqual([
      0, 1, 1, 2,
    ]);
  });

  test('pages that were appended and never written take cache space, too', () => {
    const { t, db } = reading(cycle(60, 60), 0);
    t.call('xLock', { object: db, aux: 2, context: 9 });
    t.call('xWrite', { object: db, offset: 0, length: PAGE, context: 9 });
    t.call('xWrite', { object: db, offset: 99 * PAGE, length: PAGE, context: 9 });
    t.call('xFileControl', { object: db, aux: 22, context: 9 });
    t.call('xUnlock', { object: db, aux: 0, context: 9 });
    for (const page of cycle(60, 60)) read(t, db, page);
    t.send();
    // 61 pages were seen of 100
    expect(missRatiosOf(t.store)[0]!.hits.length - 1).toBe(100);
    expect(missRatiosOf(t.store)[0]!.hits.at(-1)).toBe(60);
  });

  test('another connection that writes empties the cache; a checkpoint requests no page', () => {
    const { t, db } = reading([1, 2], 0);
    const wal = t.file('/app.db-wal', 'wal');
    t.call('xWrite', { object: wal, offset: 32, length: 24, aux: 1, context: 5 });
    t.call('xWrite', { object: wal, offset: 56, length: PAGE, context: 5 });
    t.call('xFileControl', { object: db, aux: 39, context: 9 });
    t.call('xRead', { object: wal, offset: 56, length: PAGE, context: 9 });
    t.call('xWrite', { object: db, offset: 0, length: PAGE, context: 9 });
    t.call('xFileControl', { object: db, aux: 37, context: 9 });
    for (const page of [1, 2, 1]) read(t, db, page);
    t.send();
    const curve = missRatiosOf(t.store).find((c) => c.connection === 9)!;
    expect([curve.requests, curve.cold, curve.hits.at(-1)]).toEqual([5, 4, 1]);
    // it requested no page
    expect(missRatiosOf(t.store).some((c) => c.connection === 5)).toBe(false);
  });

  test("another connection's unrecorded commit empties it, as the change counter shows", () => {
    const { t, db } = reading([], 0);
    const counters = [7, 7, 9];
    for (const [i, counter] of counters.entries()) {
      t.call('xRead', { object: db, offset: 24, length: 16, aux: counter, context: 9 });
      if (i === 1) continue; // nothing was written: everything is a hit
      t.call('xRead', {
        object: db,
        offset: 0,
        length: PAGE,
        aux: counter,
        aux2: 13,
        context: 9,
      });
      for (const page of [2, 3]) read(t, db, page);
    }
    t.send();
    expect(missRatiosOf(t.store)[0]).toMatchObject({ reads: 6, cold: 6, avoidable: 0 });
  });

  test('without an SQL layer, opening the file empties it', () => {
    const t = new ThreadBuilder(newStore());
    const db = t.file('app.db');
    for (let n = 0; n < 3; n++) {
      t.call('xOpen', { object: db });
      for (const page of [1, 2, 3]) read(t, db, page, 0);
    }
    t.send();
    expect(missRatiosOf(t.store)[0]).toMatchObject({ reads: 9, cold: 9, again: { count: 0 } });
  });

  test("a page that isn't requested twice has no goal", () => {
    const { t } = reading([1, 2, 3], 0);
    t.send();
    expect(missRatiosOf(t.store)[0]!.goal).toBeNull();
  });
});
