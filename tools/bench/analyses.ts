// All analyses of a trace as steps, one after another: what several need is computed once, by the first, as the panel's worker does.
import { badgesOf, findingContext, findingsOf } from '../../src/analysis/findings/index.ts';
import { blockWritesOf, writeAmplificationOf } from '../../src/analysis/pages/block-writes.ts';
import { cacheReport } from '../../src/analysis/cache/cache.ts';
import { checkpointsIn } from '../../src/analysis/wal/checkpoints.ts';
import { coldWarmOf } from '../../src/analysis/cache/cold-warm.ts';
import { filesOf } from '../../src/analysis/files/files.ts';
import { headlineNumbers } from '../../src/analysis/report/headline-numbers.ts';
import { idbUseOf } from '../../src/analysis/idb/idb-use.ts';
import { locksOf } from '../../src/analysis/locks/locks.ts';
import { missRatiosOf } from '../../src/analysis/cache/miss-ratio.ts';
import { pagesIn } from '../../src/analysis/pages/pages.ts';
import { repeatedCallsOf } from '../../src/analysis/files/redundant-calls.ts';
import { interleavingOf, runsOf } from '../../src/analysis/files/runs.ts';
import { Analyses } from '../../src/analysis/shared.ts';
import { blockAccessesOf } from '../../src/analysis/pages/storage-blocks.ts';
import { statementTable } from '../../src/analysis/statements/statement-table.ts';
import { sharedSummary } from '../../src/analysis/report/summary.ts';
import { walHistories, walsIn } from '../../src/analysis/wal/wal.ts';
import type { TraceStore } from '../../src/trace/store.ts';

export interface Step {
  name: string;
  work(): unknown;
}

/** Microseconds that coldWarmOf takes for a pause. */
const PAUSE_US = 1_000_000;

/** One round over a store. To be run in this order. */
export function stepsOf(store: TraceStore): Step[] {
  const shared = new Analyses(store);
  const step = (name: string, work: () => unknown): Step => ({ name, work });
  return [
    step('for comparison: the columns added up', () => sumOf(store)),
    step('accesses to pages', () => shared.accesses),
    step('transactions', () => shared.transactions),
    step('anatomy of transactions', () => shared.anatomies),
    step('statements', () => statementTable(store, {}, shared)),
    step('time partition', () => store.threads.map((thread) => shared.partition(thread))),
    step('summary', () => sharedSummary(shared)),
    step('files', () => filesOf(store)),
    step('pages', () => pagesIn(shared)),
    step('blocks', () => blockAccessesOf(store)),
    step('patterns', () => [
      runsOf(store, {}, shared),
      interleavingOf(store),
      blockWritesOf(store, {}, shared),
      writeAmplificationOf(store, {}, shared),
      repeatedCallsOf(store),
      idbUseOf(store),
    ]),
    step('caches', () => cacheReport(store, {}, shared)),
    step('miss-ratio curves', () => missRatiosOf(store, {}, shared)),
    step('cold and warm', () => coldWarmOf(store, PAUSE_US, shared)),
    step('locks', () => locksOf(store)),
    step('calls on logs', () => walsIn(shared)),
    step('write-ahead logs', () => walHistories(store, walsIn(shared))),
    step('checkpoints', () => checkpointsIn(shared)),
    step('headline numbers', () => headlineNumbers(store, shared, sharedSummary(shared))),
    step('index of the findings', () => findingContext(shared)),
    step('findings', () => findingsOf(store, findingContext(shared))),
    step('badges', () => badgesOf(store, findingContext(shared))),
  ];
}

/** What memory alone costs: every number of the columns that most analyses read, once and in order. */
function sumOf({ threads }: TraceStore): number {
  let sum = 0;
  for (const { events } of threads) {
    const { count, op, object, endSeq, t0, dur, parent, offset, length, aux } = events;
    for (const column of [op, object, endSeq, t0, dur, parent, offset, length, aux])
      sum += added(column, count);
  }
  return sum;
}

/** @param count rows in use */
function added(column: ArrayLike<number>, count: number): number {
  let sum = 0;
  for (let row = 0; row < count; row++) sum += column[row]!;
  return sum;
}
