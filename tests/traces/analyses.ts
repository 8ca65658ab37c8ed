// Facts of a store made by a test, each computed separately, as functions of the store.
import { headline as answerHeadline } from '../../src/analysis/answer/headline.ts';
import * as pageCaches from '../../src/analysis/cache/connection-caches.ts';
import { databasesByConnection } from '../../src/analysis/core/connection-databases.ts';
import { counterDeltas } from '../../src/analysis/core/counter-deltas.ts';
import { Facts, type ByThread, type Fact } from '../../src/analysis/core/graph.ts';
import * as caches from '../../src/analysis/cache/cache.ts';
import { coldWarm } from '../../src/analysis/cache/cold-warm.ts';
import { missRatios } from '../../src/analysis/cache/miss-ratio.ts';
import { pageCache } from '../../src/analysis/cache/page-cache.ts';
import { staleCaches } from '../../src/analysis/cache/stale-caches.ts';
import { executions } from '../../src/analysis/core/executions.ts';
import { ownersOf } from '../../src/trace/owners.ts';
import type { TimeRange } from '../../src/analysis/core/time-range.ts';
import { callCounts } from '../../src/analysis/files/call-counts.ts';
import { fileCounts } from '../../src/analysis/files/file-counts.ts';
import * as io from '../../src/analysis/files/io-map.ts';
import { repeatedCalls } from '../../src/analysis/files/redundant-calls.ts';
import { interleaving, runs } from '../../src/analysis/files/runs.ts';
import { storageHealth } from '../../src/analysis/files/storage-health.ts';
import { webCounts } from '../../src/analysis/files/web-counts.ts';
import { badges, findings } from '../../src/analysis/findings/index.ts';
import { idbUse } from '../../src/analysis/idb/idb-use.ts';
import * as busy from '../../src/analysis/locks/busy.ts';
import { lockWaits, NO_WAITS } from '../../src/analysis/locks/lock-waits.ts';
import { TimeSweep } from '../../src/analysis/time/time-sweep.ts';
import { locks } from '../../src/analysis/locks/locks.ts';
import type { Accesses } from '../../src/analysis/pages/accesses.ts';
import { bTrees } from '../../src/analysis/pages/b-trees.ts';
import { blockWrites, writeAmplification } from '../../src/analysis/pages/block-writes.ts';
import { databaseFiles } from '../../src/analysis/core/database-files.ts';
import { databaseHeaders } from '../../src/analysis/pages/database-headers.ts';
import { databaseSettings } from '../../src/analysis/pages/database-settings.ts';
import { accesses } from '../../src/analysis/pages/page-accesses.ts';
import { pageSizes } from '../../src/analysis/pages/page-sizes.ts';
import { placesOf, type ObjectPages } from '../../src/analysis/pages/pages.ts';
import { blockAccesses } from '../../src/analysis/pages/storage-blocks.ts';
import * as diffs from '../../src/analysis/report/diff.ts';
import * as headline from '../../src/analysis/numbers/headline-numbers.ts';
import * as report from '../../src/analysis/report/report.ts';
import { findingContext } from '../../src/analysis/rules/context.ts';
import * as tables from '../../src/analysis/statements/statement-table.ts';
import { statements } from '../../src/analysis/statements/statements.ts';
import { loadTimes } from '../../src/analysis/time/load-times.ts';
import * as time from '../../src/analysis/time/summary-time.ts';
import { pieces } from '../../src/analysis/time/thread-times.ts';
import * as partition from '../../src/analysis/time/time-partition.ts';
import { commits } from '../../src/analysis/transactions/commits.ts';
import { anatomies, type TransactionAnatomy } from '../../src/analysis/transactions/transaction-anatomy.ts';
import { transactions } from '../../src/analysis/transactions/transactions.ts';
import { checkpoints } from '../../src/analysis/wal/checkpoints.ts';
import * as wal from '../../src/analysis/wal/wal.ts';
import { TraceStore, type ThreadStore } from '../../src/trace/store.ts';

const of =
  <T>(fact: Fact<T>) =>
  (store: TraceStore): T =>
    new Facts(store).get(fact);
const ofThread =
  <T>(fact: Fact<ByThread<T>>) =>
  (thread: ThreadStore): T =>
    new Facts(new TraceStore(0)).get(fact).of(thread);

export const allWaits = of(lockWaits);
/** How often SQLite waited for a lock. */
export const lockWaitsOf = (store: TraceStore): number => allWaits(store).filter(({ sqlite }) => sqlite).length;
export const callCountsOf = of(callCounts);
export const badgesOf = of(badges);
export const blockAccessesOf = of(blockAccesses);
export const bTreesOf = of(bTrees);
export const blockWritesOf = of(blockWrites);
export const busyChains = of(busy.busyChains);
export const cacheReport = of(caches.cacheReport);
export const checkpointsOf = of(checkpoints);
export const coldWarmOf = of(coldWarm);
export const commitsOf = of(commits);
export const databaseFilesOf = of(databaseFiles);
export const databaseHeadersOf = of(databaseHeaders);
export const databaseSettingsOf = of(databaseSettings);
export const executionsOf = ofThread(executions);
export const fileCountsOf = of(fileCounts);
export const findingContextOf = of(findingContext);
export const findingsOf = of(findings);
export const headlineNumbers = of(headline.headlineNumbers);
export const headlineOf = of(answerHeadline);
export const idbUseOf = of(idbUse);
export const interleavingOf = of(interleaving);
export const ioObjects = of(io.ioObjects);
export const loadTimesOf = of(loadTimes);
export const locksOf = of(locks);
export const missRatiosOf = of(missRatios);
export const pageAccessesOf = of(accesses);
export const pageCacheOf = of(pageCache);
export const pageSizesOf = of(pageSizes);
export const repeatedCallsOf = of(repeatedCalls);
export const runsOf = of(runs);
export const staleCachesOf = of(staleCaches);
export const statementsOf = of(statements);
export const storageHealthOf = of(storageHealth);
export const summaryTime = of(time.summaryTime);
export const timePieces = ofThread(pieces);
export const transactionsOf = of(transactions);
export const walFilesOf = of(wal.wals);
export const walHistories = of(wal.walHistories);
export const webCountsOf = of(webCounts);

export const blockCachesOf = (store: TraceStore): caches.BlockCache[] => cacheReport(store).blockCaches;
export const connectionCaches = (store: TraceStore, range: TimeRange = {}): pageCaches.ConnectionCache[] =>
  pageCaches.connectionCachesIn(store, new Facts(store).known({ counterDeltas, databasesByConnection }), range);
export const cacheOverTime = (store: TraceStore, ...range: [fromUs: number, toUs: number, bins: number]): pageCaches.CacheOverTime | null =>
  pageCaches.cacheOverTime(store, new Facts(store).get(counterDeltas), ...range);
export const diffOf = (a: TraceStore, b: TraceStore): diffs.TraceDiff => diffs.diffOf(new Facts(a), new Facts(b));
export const pagesOf = (store: TraceStore, range: TimeRange = {}, all: Accesses = pageAccessesOf(store)): ObjectPages[] =>
  placesOf(all, range);
export const partitionByStatement = (thread: ThreadStore, range: TimeRange = {}): ReadonlyMap<number, partition.TimePartition> =>
  timesOfThread(thread, range).byStatement;
export const reportOf = (store: TraceStore, options?: Parameters<typeof report.reportOf>[1]): ReturnType<typeof report.reportOf> =>
  report.reportOf(new Facts(store), options);
export const statementTable = (store: TraceStore, range: TimeRange = {}): tables.StatementTable | null =>
  tables.statementTableIn(new Facts(store), range);
export const timesOfThread = (thread: ThreadStore, range: TimeRange = {}): partition.ThreadTimes =>
  partition.timesOfThread(sweepOf(thread), ownersOf(thread), range);
/** Sweeps the thread as if it were alone, without waits for other threads' locks. */
const sweepOf = (thread: ThreadStore): TimeSweep => new TimeSweep(thread, NO_WAITS, new Set());
export const partitionThread = (thread: ThreadStore, range: TimeRange = {}): partition.TimePartition =>
  partition.partitionThread(sweepOf(thread), range);
export const transactionAnatomies = (store: TraceStore): TransactionAnatomy[] => [...new Facts(store).get(anatomies)];
export const writeAmplificationOf = of(writeAmplification);
