// Stack distances against a plain LRU list, the miss-ratio curve against simulated caches, and what a curve must not claim.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { missRatioAt } from '../../src/analysis/cache/miss-ratio.ts';
import { Reference, stackDistances } from '../../src/analysis/cache/stack-distance.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { expectCheap } from './cpu-limit.ts';
import { missRatiosOf } from '../traces/analyses.ts';

/** Hits of an LRU cache of `size` pages, by keeping it. */
function lruHits(pages: ArrayLike<number>, flags: ArrayLike<number>, size: number): number {
  let cache: number[] = [];
  let hits = 0;
  for (let i = 0; i < pages.length; i++) {
    if (flags[i]! & Reference.emptied) cache = [];
    const at = cache.indexOf(pages[i]!);
    if (at >= 0 && !(flags[i]! & Reference.touch)) hits++;
    if (at >= 0) cache.splice(at, 1);
    cache.unshift(pages[i]!);
    if (cache.length > size) cache.pop();
  }
  return hits;
}
const hitsAt = (byDistance: Uint32Array, size: number): number =>
  byDistance.subarray(0, size + 1).reduce((a, b) => a + b, 0);

describe('stack distances', () => {
  test('the example of the header', () => {
    const { byDistance, cold, requests } = stackDistances(
      Uint32Array.from([0, 1, 2, 0, 1, 1, 3, 0]),
      4,
    );
    expect({ byDistance: [...byDistance], cold, requests }).toEqual({
      byDistance: [0, 1, 0, 3, 0],
      cold: 4,
      requests: 8,
    });
  });

  test('hits of every cache size are those of an LRU cache of that size', () => {
    const reference = fc.tuple(
      fc.nat(11),
      fc.constantFrom(0, 0, 0, 0, 0, Reference.touch, Reference.emptied),
    );
    fc.assert(
      fc.property(fc.array(reference, { maxLength: 200 }), (references) => {
        const pages = Uint32Array.from(references, ([page]) => page);
        const flags = Uint8Array.from(references, ([, flag]) => flag);
        const found = stackDistances(pages, 12, flags);
        for (let size = 1; size <= 13; size++)
          expect(hitsAt(found.byDistance, size)).toBe(lruHits(pages, flags, size));
        expect(found.cold + hitsAt(found.byDistance, 12)).toBe(found.requests);
      }),
      { numRuns: 300 },
    );
  });

  test('the line is pushed together many times and nothing is lost', () => {
    let seed = 7;
    const random = (): number => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) / 2 ** 32;
    const pages = Uint32Array.from({ length: 30_000 }, () => Math.floor(300 * random() ** 3));
    const flags = Uint8Array.from(pages, () =>
      random() < 0.002 ? Reference.emptied : random() < 0.1 ? Reference.touch : 0,
    );
    const { byDistance } = stackDistances(pages, 300, flags);
    for (const size of [1, 2, 17, 100, 299])
      expect(hitsAt(byDistance, size)).toBe(lruHits(pages, flags, size));
  });

  test('a million references are cheap', () => {
    let seed = 1;
    const random = (): number => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) / 2 ** 32;
    const pages = Uint32Array.from({ length: 1_000_000 }, () => Math.floor(20_000 * random() ** 2));
    stackDistances(pages.subarray(0, 100_000), 20_000);
    const began = process.cpuUsage();
    const { requests } = stackDistances(pages, 20_000);
    expect(requests).toBe(1_000_000);
    expectCheap(began, 1.5);
  });
});

const PAGE = 4096;
/** Reads pages of `app.db` on one connection; the engine's counters say so many hits besides. */
function reading(pages: readonly number[], hits: number | null): { t: ThreadBuilder; db: number } {
  const t = new ThreadBuilder(newStore());
  const db = t.file('app.db');
  t.call('sqlOpen', { context: 9 });
  const sql = t.define({ kind: 'sql', text: 'SELECT 1' });
  t.call('sqlStep', { object: sql, context: 9, aux: 1, result: 101 }, () => {
    for (const page of pages)
      t.call('xRead', { object: db, offset: (page - 1) * PAGE, length: PAGE, context: 9 });
  });
  if (hits !== null) t.call('sqlCounters', { offset: hits, length: pages.length, context: 9 });
  return { t, db };
}

describe('the curve', () => {
  test('no hits: every request was seen, the curve is exact', () => {
    const pages = Array.from({ length: 400 }, (_, i) => 1 + (i % 40));
    const { t } = reading(pages, 0);
    t.send();
    const [curve] = missRatiosOf(t.store);
    expect(curve).toMatchObject({
      kind: 'exact',
      requests: 400,
      cold: 40,
      distinctPages: 40,
      seenShare: 1,
      connection: 9,
      fromPages: 20,
    });
    expect(missRatioAt(curve!, 19)).toBeNull();
    expect(missRatioAt(curve!, 39)).toBe(1);
    expect(missRatioAt(curve!, 40)).toBe(0.1);
    expect(missRatioAt(curve!, 5000)).toBe(0.1);
    expect(curve!.goal).toMatchObject({
      pages: 40,
      kib: Math.ceil((40 * (PAGE + 136)) / 1024),
      hitRate: 0.9,
    });
  });

  test('with hits it is the curve of a cache below SQLite, and says which share it saw', () => {
    const { t } = reading([1, 2, 3, 1, 2, 3], 18);
    t.send();
    const [curve] = missRatiosOf(t.store);
    expect(curve).toMatchObject({
      kind: 'below',
      seenShare: 0.25,
      measured: { hits: 18, misses: 6, hitRate: 0.75 },
    });
  });

  test('without counters nothing is measured and nothing exact', () => {
    const { t } = reading([1, 2, 3, 1, 2, 3], null);
    t.send();
    expect(missRatiosOf(t.store)[0]).toMatchObject({
      kind: 'below',
      seenShare: null,
      measured: null,
    });
  });

  test('pages dirtied by one transaction widen the spill zone', () => {
    const { t, db } = reading([1, 2, 3, 1], 0);
    t.call('xLock', { object: db, aux: 2, context: 9 });
    for (let page = 1; page <= 70; page++)
      t.call('xWrite', { object: db, offset: (page - 1) * PAGE, length: PAGE, context: 9 });
    t.call('xFileControl', { object: db, aux: 22, context: 9 });
    t.call('xUnlock', { object: db, aux: 0, context: 9 });
    t.send();
    expect(missRatiosOf(t.store)[0]).toMatchObject({ fromPages: 70, requests: 4 });
  });

  test('another connection that writes empties the cache; a checkpoint asks for nothing', () => {
    const { t, db } = reading([1, 2], 0);
    const wal = t.file('/app.db-wal', 'wal');
    t.call('xWrite', { object: wal, offset: 32, length: 24, aux: 1, context: 5 });
    t.call('xWrite', { object: wal, offset: 56, length: PAGE, context: 5 });
    t.call('xFileControl', { object: db, aux: 39, context: 9 });
    t.call('xRead', { object: wal, offset: 56, length: PAGE, context: 9 });
    t.call('xWrite', { object: db, offset: 0, length: PAGE, context: 9 });
    t.call('xFileControl', { object: db, aux: 37, context: 9 });
    for (const page of [1, 2, 1])
      t.call('xRead', { object: db, offset: (page - 1) * PAGE, length: PAGE, context: 9 });
    t.send();
    const curve = missRatiosOf(t.store).find((c) => c.connection === 9)!;
    expect([curve.requests, curve.cold, curve.hits.at(-1)]).toEqual([5, 4, 1]);
    expect(missRatiosOf(t.store).some((c) => c.connection === 5)).toBe(false); // it asked for no page
  });

  test('a page that is not asked for twice has no goal', () => {
    const { t } = reading([1, 2, 3], 0);
    t.send();
    expect(missRatiosOf(t.store)[0]!.goal).toBeNull();
  });
});
