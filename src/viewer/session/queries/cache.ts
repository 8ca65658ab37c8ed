/** Queries of the Cache view: SQLite's page cache and the caches below it, over time, by statement, and at other sizes. */
import { leavesOut } from '../../../analysis/core/layers-left-out.ts';
import { cacheReport, type CacheReport } from '../../../analysis/cache/cache.ts';
import { coldWarmOf, type ColdWarm } from '../../../analysis/cache/cold-warm.ts';
import { cacheOverTime, type CacheOverTime } from '../../../analysis/cache/connection-caches.ts';
import { databaseSettingsOf, type Setting } from '../../../analysis/pages/database-settings.ts';
import { missRatioAt, missRatiosOf, type MissRatio } from '../../../analysis/cache/miss-ratio.ts';
import { cachePages, kneeOf } from '../../../analysis/cache/miss-ratio-knee.ts';
import { workingSet } from '../../../analysis/pages/page-matrix.ts';
import { Access } from '../../../analysis/pages/accesses.ts';
import type { Analyses } from '../../../analysis/shared.ts';
import { sharedTable } from '../../../analysis/statements/statement-table.ts';
import { threadTitles } from './thread-titles.ts';
import type { QueryContext } from './context.ts';

/** SQLite's default where no PRAGMA was seen: 2000 KiB. A build may have another. */
const DEFAULT_CACHE_SIZE = '-2000';
const MOST_POINTS = 500;
const MOST_ROWS = 500;

export interface StatementCache {
  text: string | null;
  executions: number;
  hits: number;
  misses: number;
  spills: number;
}
/** One curve, thinned to what a screen can show; points in the spill zone are left out. */
export interface CacheCurve extends Omit<MissRatio, 'hits'> {
  key: string;
  threadTitle: string;
  pages: Float64Array;
  /** Share of the requests that a cache of so many pages misses. */
  misses: Float64Array;
  knee: number | null;
  /** The cache that the database has; `assumed`: no PRAGMA was seen. text 'n/a': its value was folded; pages null: that, or the page size is not known. */
  size: { text: string; pages: number | null; assumed: boolean; how: string };
}
/** Over [fromUs, toUs) in equal bins. */
export interface CacheTimes {
  fromUs: number;
  toUs: number;
  /** null where no engine gives its counters. */
  counters: CacheOverTime | null;
  /** Pages read from database files and WALs, checkpoints left out. */
  pageReads: Float64Array;
  /** Distinct pages touched, and those of them that no earlier bin had, all databases. */
  distinct: Float64Array;
  fresh: Float64Array;
}
export interface CacheAnswer {
  report: CacheReport;
  coldWarm: ColdWarm;
  /** Statements by misses; null where no SQL is recorded or no engine gives its counters. */
  statements: StatementCache[] | null;
  /** SQL layers and counters that there are, for what is said where something is missing. */
  engines: { name: string; counters: boolean }[];
  hasSql: boolean;
  /** The recording was told not to look at SQL, so that it says nothing of what an engine could. */
  sqlLeftOut: boolean;
}

function sizeOf(said: Setting<string> | undefined, pageBytes: number | null): CacheCurve['size'] {
  // a PRAGMA whose value the recording folded is no default
  const assumed = said === undefined || (said.value === null && said.how.startsWith('no PRAGMA'));
  const text = assumed ? DEFAULT_CACHE_SIZE : (said.value ?? 'n/a');
  const how = said?.how ?? 'nothing is known of how this database is set up';
  return { text, assumed, how, pages: text === 'n/a' ? null : cachePages(text, pageBytes) };
}

function curvesOf(shared: Analyses): CacheCurve[] {
  const { store } = shared;
  const settings = new Map(
    databaseSettingsOf(store, shared).map((s) => [`${s.vfs}\0${s.path}`, s]),
  );
  const titles = threadTitles(store);
  return missRatiosOf(store, {}, shared).map((curve) => {
    const { hits, ...rest } = curve;
    const last = Math.max(curve.fromPages, hits.length - 1);
    const points = Math.min(MOST_POINTS, last - curve.fromPages + 1);
    const pages = Float64Array.from({ length: points }, (_, i) =>
      points === 1
        ? last
        : Math.round(curve.fromPages + (i * (last - curve.fromPages)) / (points - 1)),
    );
    const size = sizeOf(
      settings.get(`${curve.vfs}\0${curve.path}`)?.cacheSize,
      curve.pageSize.bytes,
    );
    const key = `${curve.thread} ${curve.connection} ${curve.path}`;
    return {
      ...rest,
      key,
      threadTitle: titles[curve.thread]!,
      pages,
      misses: pages.map((n) => missRatioAt(curve, n)!),
      knee: kneeOf(curve),
      size,
    };
  });
}

/** Each over the whole trace, computed once. */
export const coldWarmIn = (shared: Analyses): ColdWarm =>
  shared.once('cold and warm', () => coldWarmOf(shared.store, undefined, shared));
export const reportIn = (shared: Analyses): CacheReport =>
  shared.once('cache report', () => cacheReport(shared.store, {}, shared));
export const curvesIn = (shared: Analyses): CacheCurve[] =>
  shared.once('cache curves', () => curvesOf(shared));

export const cacheQueries = {
  cache(context: QueryContext, _args: Record<string, never>): CacheAnswer {
    const { store, shared } = context;
    return context.memo('cache', () => {
      const report = reportIn(shared);
      const table = sharedTable(shared);
      const rows =
        report.pageCache && table
          ? table.rows.flatMap((r) =>
              r.cache ? [{ ...r.cache, text: r.text, executions: r.executions }] : [],
            )
          : null;
      const coldWarm = coldWarmIn(shared);
      return {
        report,
        coldWarm: { ...coldWarm, firstExecutions: coldWarm.firstExecutions.slice(0, MOST_ROWS) },
        statements:
          rows && rows.sort((a, b) => b.misses - a.misses || b.hits - a.hits).slice(0, MOST_ROWS),
        engines: store.threads.flatMap((t) =>
          t.engines.map(({ name, layers }) => ({ name, counters: layers.counters })),
        ),
        hasSql: table !== null,
        sqlLeftOut: leavesOut(store, 'sql'),
      };
    });
  },

  /** By connection and database, the one with the most requests first. */
  cacheCurves({ shared }: QueryContext, _args: Record<string, never>): CacheCurve[] {
    return curvesIn(shared).map((c) => ({
      ...c,
      pages: c.pages.slice(),
      misses: c.misses.slice(),
    }));
  },

  /** @param args bins 1..2000 @throws RangeError for others */
  cacheTimes(context: QueryContext, { bins }: { bins: number }): CacheTimes {
    const { store, shared } = context;
    if (!(bins >= 1 && bins <= 2000)) throw new RangeError(`${bins} bins`);
    const { cold, warm } = coldWarmIn(shared); // from the first call of SQLite's to the last: what was before is empty
    const [fromUs, toUs] = [cold?.fromUs ?? 0, warm?.toUs ?? cold?.toUs ?? 0.001];
    const { accesses } = shared;
    const out: CacheTimes = {
      fromUs,
      toUs,
      counters: cacheOverTime(store, fromUs, toUs, bins),
      pageReads: new Float64Array(bins),
      distinct: new Float64Array(bins),
      fresh: new Float64Array(bins),
    };
    for (let i = 0; i < accesses.count; i++)
      if (!(accesses.what[i]! & (Access.write | Access.checkpoint)))
        out.pageReads[
          Math.max(
            0,
            Math.min(bins - 1, Math.floor(((accesses.us[i]! - fromUs) / (toUs - fromUs)) * bins)),
          )
        ]! += accesses.span[i]!;
    accesses.objects.forEach((_, object) => {
      const set = workingSet(accesses, object, fromUs, toUs, bins);
      for (let bin = 0; bin < bins; bin++) {
        out.distinct[bin]! += set.distinct[bin]!;
        out.fresh[bin]! += set.fresh[bin]!;
      }
    });
    return out;
  },
};
