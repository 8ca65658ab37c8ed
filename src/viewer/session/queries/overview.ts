/** Queries of the Overview. */
import {
  databaseSettingsOf,
  type DatabaseSettings,
} from '../../../analysis/pages/database-settings.ts';
import { headlineNumbers, type HeadlineNumber } from '../../../analysis/report/headline-numbers.ts';
import type { Analyses } from '../../../analysis/shared.ts';
import {
  sharedSummary,
  type SummaryEngine,
  type SummaryEnvironment,
} from '../../../analysis/report/summary.ts';
import { storageHealthOf, type OriginStorage } from '../../../analysis/files/storage-health.ts';
import { hasSql } from '../../../analysis/statements/statements.ts';
import {
  partitionThread,
  type TimePartition,
  type TimeRange,
} from '../../../analysis/time/time-partition.ts';
import { hasVfs } from '../../../analysis/transactions/transactions.ts';
import { Op } from '../../../event/event.ts';
import type { EngineInfo } from '../../../event/definitions.ts';
import type { TraceStore } from '../../../trace/store.ts';
import { threadTitles } from './thread-titles.ts';
import type { QueryContext } from './context.ts';

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
  /** What the browser says of the storage of each origin; [] where nobody asked. */
  storage: OriginStorage[];
  /** Rows are numbers for life. */
  numbers: HeadlineNumber[];
}

export const overviewQueries = {
  /** Where the time of each thread went, over its whole life or a range. */
  threadPartitions(
    context: QueryContext,
    range: { fromUs?: number; toUs?: number },
  ): ThreadPartition[] {
    return context.memo(`partitions ${range.fromUs} ${range.toUs}`, () =>
      partitionsOf(context.shared, range),
    );
  },

  /** What was recorded, and its headline numbers. */
  overview({ store, shared, memo }: QueryContext, _args: object): Overview {
    return memo('overview', () => {
      const summary = sharedSummary(shared);
      const titles = threadTitles(store);
      return {
        environment: summary.environment,
        engines: store.threads
          .flatMap((t) => t.engines)
          .map(({ suspension }, i) => ({ ...summary.engines[i]!, suspension })),
        threadTitles: Object.fromEntries(store.threads.map((t) => [t.info.id, titles[t.index]!])),
        databases: databaseSettingsOf(store, shared),
        durability: durabilityOf(store),
        storage: storageHealthOf(store),
        numbers: headlineNumbers(store, shared, summary).map((n) => ({
          ...n,
          event: n.event && forLife(store, n.event),
        })),
      };
    });
  },
};

export function partitionsOf(shared: Analyses, range: TimeRange = {}): ThreadPartition[] {
  const whole = range.fromUs === undefined && range.toUs === undefined;
  const titles = threadTitles(shared.store);
  return shared.store.threads.map((thread, i) => {
    const partition = whole ? shared.partition(thread) : partitionThread(thread, range);
    return { thread: i, title: titles[i]!, partition, sqlite: hasSql(thread) || hasVfs(thread) };
  });
}

/** Analyses count rows from the first that is kept; views name them for life. */
export function forLife(
  store: TraceStore,
  { thread, row }: { thread: number; row: number },
): { thread: number; row: number } {
  return { thread, row: row + (store.threads[thread]?.forgotten ?? 0) };
}

const DURABILITY = ['default', 'strict', 'relaxed'] as const;
const READWRITE = 1;

function durabilityOf(store: TraceStore): Durability {
  const found: Durability = { default: 0, strict: 0, relaxed: 0 };
  for (const { events } of store.threads)
    for (let row = 0; row < events.count; row++) {
      if (events.op[row] !== Op.idbTransaction || (events.aux[row]! & 3) !== READWRITE) continue;
      const tier = DURABILITY[events.aux[row]! >> 2];
      if (tier) found[tier]++;
    }
  return found;
}
