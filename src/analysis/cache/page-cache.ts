/**
 * SQLite's page cache, as its own counters have it (sqlite3_db_status): what happened within the trace, all connections added up. What
 * a connection did before the recording is in its first reading, which is left out, as the Cache view does.
 */
import type { TraceStore } from '../../trace/store.ts';
import { fact } from '../graph.ts';
import { counterDeltas } from '../core/counter-deltas.ts';

/** All null where no engine gave its counters, or nothing but the first ones of connections opened before. */
export interface PageCache {
  hits: number | null;
  misses: number | null;
  writes: number | null;
  spills: number | null;
  /** hits / (hits + misses) */
  hitRate: number | null;
}

/** Why all is null where an engine gives its counters. */
export const NO_READINGS =
  'no statement has ended, or but one of each connection that was opened before: its counters have nothing to compare with';

export const pageCache = fact('pageCache', 'page cache', {}, pageCacheOf);

function pageCacheOf(store: TraceStore): PageCache {
  const sum = { hits: 0, misses: 0, writes: 0, spills: 0 };
  let readings = 0;
  for (const thread of store.threads) {
    const deltas = counterDeltas(thread);
    for (let i = 0; i < deltas.count; i++) {
      if (!deltas.known[i]) continue;
      readings++;
      sum.hits += deltas.hits[i]!;
      sum.misses += deltas.misses[i]!;
      sum.writes += deltas.writes[i]!;
      sum.spills += deltas.spills[i]!;
    }
  }
  if (!readings) return { hits: null, misses: null, writes: null, spills: null, hitRate: null };
  const requests = sum.hits + sum.misses;
  return { ...sum, hitRate: requests ? sum.hits / requests : null };
}
