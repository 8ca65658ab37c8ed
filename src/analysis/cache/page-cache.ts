/**
 * SQLite's page cache according to its own counters (sqlite3_db_status): what happened within the
 * trace, over all connections. A first reading includes what its connection did before the
 * recording, so it is left out, as in the Cache view.
 */
import { hitRate, type CacheSums } from '../core/counter-deltas.ts';
import { callCounts } from '../files/call-counts.ts';
import { fact } from '../core/graph.ts';

/**
 * All null if no engine had counters, or only the first ones of connections that were opened
 * before.
 */
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

/** @param threads the summed readings of each thread */
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
