/** Questions and answers of the Cache view. */
import type { CacheReport } from '../../analysis/cache/cache.ts';
import type { ColdWarm } from '../../analysis/cache/cold-warm.ts';
import type { CacheOverTime } from '../../analysis/cache/connection-caches.ts';
import type { GoalSaving } from '../../analysis/cache/goal-saving.ts';
import type { MissRatio } from '../../analysis/cache/miss-ratio.ts';
import type { StatementRow } from '../../analysis/statements/statement-table.ts';

/** One curve, thinned to what a screen can show. Sizes without a known value are left out. */
export interface CacheCurve extends Omit<MissRatio, 'hits' | 'again' | 'scans'> {
  key: string;
  threadTitle: string;
  pages: Float64Array;
  /** Share of the requests that miss in a cache of this many pages. */
  misses: Float64Array;
  /**
   * Recorded reads that such a cache avoids, and the time that this saves, in microseconds; null =
   * not known.
   */
  avoided: Float64Array;
  savedUs: Float64Array | null;
  knee: number | null;
  /** Whether the goal's size is advised: it is larger than the current cache and saves enough. */
  advised: boolean;
  /** What the goal saves; null where there is no goal. */
  saving: GoalSaving | null;
}

/** Over [fromUs, toUs) in equal bins. */
export interface CacheTimes {
  fromUs: number;
  toUs: number;
  /** null where no engine reports its counters. */
  counters: CacheOverTime | null;
  /** Pages read from database files and WALs, checkpoints left out. */
  pageReads: Float64Array;
  /** Distinct pages touched, and how many of them are new in this bin. All databases together. */
  distinct: Float64Array;
  fresh: Float64Array;
}

export interface CacheAnswer {
  report: CacheReport;
  coldWarm: ColdWarm;
  /** Statements by misses; null where no SQL is recorded or no engine reports its counters. */
  statements: StatementRow[] | null;
  /** Why SQLite's page cache isn't known. */
  noCounters: string;
}
