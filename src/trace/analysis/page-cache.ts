/** SQLite's page cache, as its own counters have it (sqlite3_db_status): the last reading of every connection, added up. */
import { Op } from '../event.ts';
import type { TraceStore } from '../store.ts';

/** All null where no engine gave its counters. */
export interface PageCache {
  hits: number | null;
  misses: number | null;
  writes: number | null;
  spills: number | null;
  /** hits / (hits + misses) */
  hitRate: number | null;
}

export function pageCacheOf(store: TraceStore): PageCache {
  const sum = [0, 0, 0, 0] as [number, number, number, number];
  let connections = 0;
  for (const { events } of store.threads) {
    const last = new Map<number, number>();
    for (let i = 0; i < events.count; i++) if (events.op[i] === Op.sqlCounters) last.set(events.context[i]!, i);
    for (const row of last.values()) {
      connections++;
      sum[0] += events.offset[row]!;
      sum[1] += events.length[row]!;
      sum[2] += events.aux[row]!;
      sum[3] += events.aux2[row] ?? 0;
    }
  }
  if (!connections) return { hits: null, misses: null, writes: null, spills: null, hitRate: null };
  const [hits, misses, writes, spills] = sum;
  return { hits, misses, writes, spills, hitRate: hits + misses ? hits / (hits + misses) : null };
}
