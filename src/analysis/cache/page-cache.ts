/**
 * SQLite's page cache, as its own counters have it (sqlite3_db_status): what happened within the trace, all connections added up. What
 * a connection did before the recording is in its first reading, which is left out, as the Cache view does.
 */
import { hitRate, type CacheSums } from '../core/counter-deltas.ts';
import { callCounts } from '../files/call-counts.ts';
import { fact } from '../core/graph.ts';

/** All null where no engine gave its counters, or nothing but the first ones of connections opened before. */
export interface PageCache {
  hits: number | null;
  misses: number | null;
  writes: number | null;
  spills: number | null;
  /** hits / (hits + misses) */
  hitRate: number | null;
}

export const pageCache = fact(
  'pageCache',
  'page cache',
  { callCounts },
  (_, { callCounts }): PageCache => pageCacheFrom(callCounts.cacheSums),
);

/** @param threads readings of each, added up */
export function pageCacheFrom(threads: readonly CacheSums[]): PageCache {
  const sum = (key: 'hits' | 'misses' | 'writes' | 'spills' | 'readings'): number =>
    threads.reduce((n, sums) => n + sums[key], 0);
  if (sum('readings') === 0)
    return { hits: null, misses: null, writes: null, spills: null, hitRate: null };
  const [hits, misses] = [sum('hits'), sum('misses')];
  return {
    hits,
    misses,
    writes: sum('writes'),
    spills: sum('spills'),
    hitRate: hitRate({ hits, misses }),
  };
}
