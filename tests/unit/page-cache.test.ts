// The hit rate of SQLite's page cache: one number in the Overview, the Cache view, the live strip,
// and the timeline.
import { expect, test } from 'vitest';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { CacheCounter } from '../../src/timeline/cache-counter.ts';
import { LiveCounts } from '../../src/viewer/session/live-stats.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { cacheReport, headlineNumbers, pageCacheOf } from '../traces/analyses.ts';

const NO_READINGS =
  'the counters need a second reading: no statement has ended, or only one on each connection that was already open';

const liveRate = (live: LiveCounts): number | null =>
  live.counts(0, false).numbers.find(({ slot }) => slot === 'cache-hit')!.value;

/** One connection opened within the trace, and one before it. */
function trace(): {
  t: ThreadBuilder;
  counters(context: number, hits: number, misses: number, spills?: number): void;
} {
  const t = new ThreadBuilder(newStore());
  t.define({
    kind: 'engine',
    name: 'sqlite',
    version: '',
    layers: { sql: true, vfs: true, counters: true },
  } as never);
  t.call('sqlOpen', { context: 1, dur: 10 });
  return {
    t,
    counters: (context, hits, misses, spills = 0) =>
      void t.call('sqlCounters', { offset: hits, length: misses, aux2: spills, context, dur: 0 }),
  };
}

test('reports what happened within the trace, the same everywhere', () => {
  const { t, counters } = trace();
  counters(1, 6, 2);
  counters(2, 900, 90);
  counters(1, 6, 10, 3);
  counters(2, 901, 90);
  counters(1, 2, 1); // the app reset them: from here on nothing is known
  counters(1, 700, 7);
  t.send();
  const { store, thread } = t;
  const found = { hits: 7, misses: 10, writes: 0, spills: 3, hitRate: 7 / 17 };
  expect(pageCacheOf(store)).toEqual(found);
  expect(cacheReport(store).pageCache).toEqual(found);
  expect(liveRate(new LiveCounts(store))).toBe(found.hitRate);
  const lane = new CacheCounter(thread);
  lane.update();
  expect(lane.rates(0, 1000, 1)[0]).toBeCloseTo(found.hitRate, 6);
});

test('the first reading of a connection that was opened before has nothing to compare with', () => {
  const { t, counters } = trace();
  counters(2, 900, 100);
  t.send();
  const none = { hits: null, misses: null, writes: null, spills: null, hitRate: null };
  const summary = summaryOf(t.store);
  expect(summary.pageCache).toEqual(none);
  expect(summary.unknown['pageCache']).toBe(NO_READINGS);
  expect(headlineNumbers(t.store).find(({ id }) => id === 'hitRate')).toMatchObject({
    value: null,
    cause: NO_READINGS,
  });
  expect(liveRate(new LiveCounts(t.store))).toBeNull();
});

test('the live strip counts from the start again after rows were dropped', () => {
  const { t, counters } = trace();
  counters(1, 90, 10);
  counters(1, 90, 20);
  counters(1, 100, 20);
  t.send();
  const live = new LiveCounts(t.store);
  expect(liveRate(live)).toBe(100 / 120);
  t.thread.forget(3); // one reading is left, and the connection's opening is gone
  expect(pageCacheOf(t.store).hitRate).toBeNull();
  expect(liveRate(live)).toBeNull();
});
