/** Queries of the Overview. */
import { sqliteThreads } from '../../../analysis/core/main-threads.ts';
import { databaseSettings } from '../../../analysis/pages/database-settings.ts';
import {
  countedInstructions,
  headlineNumbers,
} from '../../../analysis/numbers/headline-numbers.ts';
import { fact, type Facts } from '../../../analysis/core/graph.ts';
import { summary } from '../../../analysis/report/summary.ts';
import { storageHealth } from '../../../analysis/files/storage-health.ts';
import type { TimeRange } from '../../../analysis/time/time-partition.ts';
import { partition, sweeps } from '../../../analysis/time/thread-times.ts';
import { idbTraffic, type IdbTransaction } from '../../../analysis/idb/idb-use.ts';
import { IDB_DURABILITIES, READWRITE } from '../../../event/idb-modes.ts';
import { threadTitles } from '../../../analysis/core/thread-titles.ts';
import { answerOf, needing, type QueryContext } from './context.ts';
import type { ThreadPartition, Durability, Overview } from '../../../protocol/answers/overview.ts';

const overview = fact(
  'overview',
  'overview',
  { summary, databaseSettings, storageHealth, headlineNumbers, countedInstructions, idbTraffic },
  (
    store,
    { summary, databaseSettings, storageHealth, headlineNumbers, countedInstructions, idbTraffic },
  ): Overview => {
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
      numbers: [...headlineNumbers, ...(countedInstructions ? [countedInstructions] : [])],
      callCheck: summary.belowStorage?.check ?? null,
    };
  },
);

export const overviewQueries = {
  /** Where each thread spent its time, over its whole life or a time range. */
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

function partitionsOf(facts: Facts, range: TimeRange = {}): ThreadPartition[] {
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
