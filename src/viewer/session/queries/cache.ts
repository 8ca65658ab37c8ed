/**
 * Queries of the Cache view: SQLite's page cache and the caches below it, over time, by statement,
 * and at other sizes.
 */
import { absences } from '../../../analysis/core/absences.ts';
import { fact } from '../../../analysis/core/graph.ts';
import { accesses } from '../../../analysis/pages/page-accesses.ts';
import { cacheReport } from '../../../analysis/cache/cache.ts';
import { coldWarm } from '../../../analysis/cache/cold-warm.ts';
import { counterDeltas } from '../../../analysis/core/counter-deltas.ts';
import { cacheOverTime } from '../../../analysis/cache/connection-caches.ts';
import { goalSavings, savingsAt } from '../../../analysis/cache/goal-saving.ts';
import { advisesCache, missRatioAt, missRatios } from '../../../analysis/cache/miss-ratio.ts';
import { sizeToHold } from '../../../analysis/cache/cache-size.ts';
import { kneeOf } from '../../../analysis/cache/miss-ratio-knee.ts';
import { workingSet } from '../../../analysis/pages/page-matrix.ts';
import { Access } from '../../../analysis/pages/accesses.ts';
import { statementTable } from '../../../analysis/statements/statement-table.ts';
import { threadTitles } from '../../../analysis/core/thread-titles.ts';
import { answerOf, needing, type QueryContext } from './context.ts';
import type { CacheCurve, CacheTimes, CacheAnswer } from '../../../protocol/answers/cache.ts';

const MOST_POINTS = 500;
const MOST_ROWS = 500;

/** One for each connection and database. */
const cacheCurves = fact(
  'cacheCurves',
  'misses at every cache size',
  { missRatios, goalSavings },
  (store, known): CacheCurve[] => {
    const titles = threadTitles(store);
    return known.missRatios.map((curve, i) => {
      const { hits, again: _again, scans: _scans, ...rest } = curve;
      const last = Math.max(curve.fromPages, sizeToHold(hits.length - 1));
      const points = Math.min(MOST_POINTS, last - curve.fromPages + 1);
      const pages = Float64Array.from({ length: points }, (_, i) =>
        points === 1
          ? last
          : Math.round(curve.fromPages + (i * (last - curve.fromPages)) / (points - 1)),
      );
      const key = `${curve.thread} ${curve.connection} ${curve.path}`;
      const misses = pages.map((n) => missRatioAt(curve, n)!);
      const saving = known.goalSavings[i]!;
      const avoided = misses.map((share) =>
        Math.round(Math.max(0, curve.reads - share * curve.requests)),
      );
      return {
        ...rest,
        key,
        threadTitle: titles[curve.thread]!,
        pages,
        misses,
        avoided,
        savedUs: curve.goal && saving ? savingsAt(curve.goal, saving, avoided) : null,
        knee: kneeOf(curve),
        advised: advisesCache(curve),
        saving,
      };
    });
  },
);

const cacheAnswer = fact(
  'cacheAnswer',
  'caches',
  { cacheReport, statementTable, coldWarm, absences },
  (_, { cacheReport: report, statementTable: table, coldWarm: runs, absences }): CacheAnswer => {
    const rows = report.pageCache && table ? table.rows.filter(({ cache }) => cache) : null;
    return {
      report,
      coldWarm: { ...runs, firstExecutions: runs.firstExecutions.slice(0, MOST_ROWS) },
      statements:
        rows &&
        rows
          .sort((a, b) => b.cache!.misses - a.cache!.misses || b.cache!.hits - a.cache!.hits)
          .slice(0, MOST_ROWS),
      noCounters: absences.counters,
    };
  },
);

export const cacheQueries = {
  cache: answerOf(cacheAnswer),

  /** By connection and database, the one with the most requests first. */
  cacheCurves: needing(
    [cacheCurves],
    ({ facts }: QueryContext, _args: Record<string, never>): CacheCurve[] => {
      return facts.get(cacheCurves).map((c) => ({
        ...c,
        pages: c.pages.slice(),
        misses: c.misses.slice(),
        avoided: c.avoided.slice(),
        savedUs: c.savedUs?.slice() ?? null,
      }));
    },
  ),

  /** @param args bins 1..2000 @throws RangeError for others */
  cacheTimes: needing(
    [accesses, coldWarm, counterDeltas],
    (context: QueryContext, { bins }: { bins: number }): CacheTimes => {
      const { store, facts } = context;
      if (!(bins >= 1 && bins <= 2000)) throw new RangeError(`${bins} bins`);
      // from SQLite's first call to its last; the time before is empty
      const { cold, warm } = facts.get(coldWarm);
      const [fromUs, toUs] = [cold?.fromUs ?? 0, warm?.toUs ?? cold?.toUs ?? 0.001];
      const all = facts.get(accesses);
      const out: CacheTimes = {
        fromUs,
        toUs,
        counters: cacheOverTime(store, facts.get(counterDeltas), fromUs, toUs, bins),
        pageReads: new Float64Array(bins),
        distinct: new Float64Array(bins),
        fresh: new Float64Array(bins),
      };
      for (let i = 0; i < all.count; i++)
        if (!(all.what[i]! & (Access.write | Access.checkpoint)))
          out.pageReads[
            Math.max(
              0,
              Math.min(bins - 1, Math.floor(((all.us[i]! - fromUs) / (toUs - fromUs)) * bins)),
            )
          ]! += all.span[i]!;
      all.objects.forEach((_, object) => {
        const set = workingSet(all, object, fromUs, toUs, bins);
        for (let bin = 0; bin < bins; bin++) {
          out.distinct[bin]! += set.distinct[bin]!;
          out.fresh[bin]! += set.fresh[bin]!;
        }
      });
      return out;
    },
  ),
};
