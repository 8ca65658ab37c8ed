// All analyses of a trace as steps, one after another: what several need is computed once, by the first, as the panel's worker does.
import { badgesOf, findingContext, findingsOf } from '../../src/trace/analysis/findings/index.ts';
import { blockWritesOf, writeAmplificationOf } from '../../src/trace/analysis/block-writes.ts';
import { cacheReport } from '../../src/trace/analysis/cache.ts';
import { checkpointsIn } from '../../src/trace/analysis/checkpoints.ts';
import { coldWarmOf } from '../../src/trace/analysis/cold-warm.ts';
import { filesOf } from '../../src/trace/analysis/files.ts';
import { headlineNumbers } from '../../src/trace/analysis/headline-numbers.ts';
import { idbUseOf } from '../../src/trace/analysis/idb-use.ts';
import { locksOf } from '../../src/trace/analysis/locks.ts';
import { missRatiosOf } from '../../src/trace/analysis/miss-ratio.ts';
import { pagesIn } from '../../src/trace/analysis/pages.ts';
import { repeatedCallsOf } from '../../src/trace/analysis/redundant-calls.ts';
import { interleavingOf, runsOf } from '../../src/trace/analysis/runs.ts';
import { Analyses } from '../../src/trace/analysis/shared.ts';
import { blockAccessesOf } from '../../src/trace/analysis/storage-blocks.ts';
import { statementTable } from '../../src/trace/analysis/statement-table.ts';
import { sharedSummary } from '../../src/trace/analysis/summary.ts';
import { walHistories, walsIn } from '../../src/trace/analysis/wal.ts';
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
