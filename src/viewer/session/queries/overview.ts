/** Queries of the Overview. */
import { sqliteThreads } from '../../../analysis/core/main-threads.ts';
import {
  databaseSettings,
  type DatabaseSettings,
} from '../../../analysis/pages/database-settings.ts';
import { headlineNumbers, type HeadlineNumber } from '../../../analysis/report/headline-numbers.ts';
import { fact, type Facts } from '../../../analysis/core/graph.ts';
import {
  summary,
  type SummaryEngine,
  type SummaryEnvironment,
} from '../../../analysis/report/summary.ts';
import { storageHealth, type OriginStorage } from '../../../analysis/files/storage-health.ts';
import type { TimePartition, TimeRange } from '../../../analysis/time/time-partition.ts';
import { partition, sweeps } from '../../../analysis/time/thread-times.ts';
import { idbTraffic, type IdbTransaction } from '../../../analysis/idb/idb-use.ts';
import type { EngineInfo } from '../../../event/definitions.ts';
import { IDB_DURABILITIES, READWRITE } from '../../../event/idb-modes.ts';
import { threadTitles } from '../../../analysis/core/thread-titles.ts';
import { answerOf, needing, type QueryContext } from './context.ts';

export interface ThreadPartition {
  thread: number;
  title: string;
  partition: TimePartition;
  /** SQL or VFS calls were recorded on it. */
  sqlite: boolean;
}

/** Readwrite transactions of IndexedDB by the durability asked for. */
export interface Durability {
  default: number;
  strict: number;
  relaxed: number;
}

export interface Overview {
  environment: SummaryEnvironment;
  engines: (SummaryEngine & Pick<EngineInfo, 'suspension'>)[];
  /** What the trace calls the thread of an engine, by its id. */
  threadTitles: Record<string, string>;
  databases: DatabaseSettings[];
  durability: Durability;
  /** What the browser says of the storage of each origin; [] where it was not asked. */
  storage: OriginStorage[];
  numbers: HeadlineNumber[];
}

const overview = fact(
  'overview',
  'overview',
  { summary, databaseSettings, storageHealth, headlineNumbers, idbTraffic },
  (store, { summary, databaseSettings, storageHealth, headlineNumbers, idbTraffic }): Overview => {
    const titles = threadTitles(store);
    return {
      environment: summary.environment,
      engines: store.threads
        .flatMap((t) => t.engines)
        .map(({ suspension }, i) => ({ ...summary.engines[i]!, suspension })),
      threadTitles: Object.fromEntries(store.threads.map((t) => [t.info.id, titles[t.index]!])),
      databases: databaseSettings,
      durability: durabilityOf(idbTraffic?.transactions ?? []),
      storage: storageHealth,
      numbers: headlineNumbers,
    };
  },
);

export const overviewQueries = {
  /** Where the time of each thread went, over its whole life or a range. */
  threadPartitions: needing(
    [partition],
    (context: QueryContext, range: { fromUs?: number; toUs?: number }): ThreadPartition[] => {
      return context.memo(`partitions ${range.fromUs} ${range.toUs}`, () =>
        partitionsOf(context.facts, range),
      );
    },
  ),

  /** What was recorded, and its headline numbers. */
  overview: answerOf(overview),
};

export function partitionsOf(facts: Facts, range: TimeRange = {}): ThreadPartition[] {
  const whole = range.fromUs === undefined && range.toUs === undefined;
  const titles = threadTitles(facts.store);
  const withSqlite = facts.get(sqliteThreads);
  return facts.store.threads.map((thread, i) => {
    const own = whole
      ? facts.get(partition).of(thread)
      : facts.get(sweeps).of(thread).partitionWithin(range);
    return {
      thread: i,
      title: titles[i]!,
      partition: own,
      sqlite: withSqlite.includes(thread),
    };
  });
}

function durabilityOf(transactions: readonly IdbTransaction[]): Durability {
  const found: Durability = { default: 0, strict: 0, relaxed: 0 };
  for (const { mode, durability } of transactions) {
    const tier = IDB_DURABILITIES[durability];
    if (tier && mode === READWRITE) found[tier]++;
  }
  return found;
}
