/**
 * SQLite's page cache by connection, from the engine's own counters: hits, misses, writes, and
 * spills, over a range and over time.
 */
import { databasesByConnection } from '../core/connection-databases.ts';
import { fact, type ByThread, type Known } from '../core/graph.ts';
import { getOrMake } from '../core/maps.ts';
import { isSqlOp } from '../../event/operations.ts';
import type { TraceStore } from '../../trace/store.ts';
import {
  counterDeltas,
  hitRate,
  type CacheCounts,
  type CounterDeltas,
  NO_COUNTS,
  CACHE_COUNTS,
} from '../core/counter-deltas.ts';
import type { TimeRange } from '../time/time-partition.ts';

export interface ConnectionCache extends CacheCounts {
  /** Place in TraceStore.threads, and connection id there. */
  thread: number;
  connection: number;
  /** null without page requests. */
  hitRate: number | null;
  /** Readings in the range; each covers the time since the one before. */
  readings: number;
  /**
   * The connection was opened before the recording, so the counts of its first reading are left
   * out.
   */
  openedBefore: boolean;
  /** Databases that its VFS calls went to. The counters cover all of them. */
  databases: number;
}

const NEEDS = { counterDeltas, databasesByConnection };

/** Over the whole trace. */
export const connectionCaches = fact(
  'connectionCaches',
  'page caches by connection',
  { counterDeltas },
  // databases are only needed for threads with counters
  (store, { counterDeltas: deltas }, facts) =>
    connectionCachesIn(store, {
      counterDeltas: deltas,
      databasesByConnection: facts.get(databasesByConnection),
    }),
);

/** Empty if no engine has counters. */
export function connectionCachesIn(
  store: TraceStore,
  known: Known<typeof NEEDS>,
  range: TimeRange = {},
): ConnectionCache[] {
  const { fromUs = -Infinity, toUs = Infinity } = range;
  const found: ConnectionCache[] = [];
  for (const thread of store.threads) {
    const { events, index } = thread;
    const deltas = known.counterDeltas.of(thread);
    if (deltas.count === 0) continue;
    const byId = new Map<number, ConnectionCache>();
    for (let i = 0; i < deltas.count; i++) {
      const connection = deltas.connection[i]!;
      const c = getOrMake(byId, connection, () => ({
        thread: index,
        connection,
        ...NO_COUNTS,
        hitRate: null,
        readings: 0,
        openedBefore: !deltas.known[i],
        databases: 0,
      }));
      const us = events.t0[deltas.row[i]!]!;
      if (!deltas.known[i] || us < fromUs || us >= toUs) continue;
      c.readings++;
      for (const name of CACHE_COUNTS) c[name] += deltas[name][i]!;
      c.hitRate = hitRate(c);
    }
    const databases = known.databasesByConnection.of(thread);
    for (const [id, cache] of byId) cache.databases = databases.get(id)?.size ?? 0;
    found.push(...byId.values());
  }
  return found.filter((c) => c.readings > 0);
}

/** Columns by time bin, over all connections. */
export interface CacheOverTime {
  hits: Float64Array;
  misses: Float64Array;
  spills: Float64Array;
  /** NaN without page requests. */
  hitRate: Float64Array;
}

/**
 * Over [fromUs, toUs) in equal bins. Each reading's counts are spread evenly over the time from the
 * connection's first call after the reading before until this one.
 */
export function cacheOverTime(
  store: TraceStore,
  readingsOf: ByThread<CounterDeltas>,
  fromUs: number,
  toUs: number,
  bins: number,
): CacheOverTime | null {
  const out: CacheOverTime = {
    hits: new Float64Array(bins),
    misses: new Float64Array(bins),
    spills: new Float64Array(bins),
    hitRate: new Float64Array(bins).fill(NaN),
  };
  let readings = 0;
  const width = (toUs - fromUs) / bins;
  const spread = (values: Float64Array, amount: number, begin: number, end: number): void => {
    const last = Math.min(bins - 1, Math.floor((end - fromUs) / width));
    if (begin >= end) {
      if (last >= 0 && end < toUs) values[last]! += amount;
      return;
    }
    for (let bin = Math.max(0, Math.floor((begin - fromUs) / width)); bin <= last; bin++) {
      const from = fromUs + bin * width;
      values[bin]! +=
        (amount * (Math.min(end, from + width) - Math.max(begin, from))) / (end - begin);
    }
  };
  for (const thread of store.threads) {
    const deltas = readingsOf.of(thread);
    readings += deltas.count;
    const { op, context, t0, count } = thread.events;
    /** By connection: its first call since its last reading. */
    const begun = new Map<number, number>();
    for (let row = 0, i = 0; i < deltas.count && row < count; row++) {
      if (deltas.row[i] !== row) {
        if (isSqlOp(op[row]!) && !begun.has(context[row]!)) begun.set(context[row]!, t0[row]!);
        continue;
      }
      const us = t0[row]!;
      const begin = begun.get(context[row]!) ?? us;
      begun.delete(context[row]!);
      if (deltas.known[i])
        for (const name of ['hits', 'misses', 'spills'] as const)
          spread(out[name], deltas[name][i]!, begin, us);
      i++;
    }
  }
  for (let bin = 0; bin < bins; bin++)
    out.hitRate[bin] = hitRate({ hits: out.hits[bin]!, misses: out.misses[bin]! }) ?? NaN;
  return readings ? out : null;
}
