/**
 * Long questions in steps: what a question needs is computed piece by piece into what analyses share, with pauses in which frames of the
 * timeline are drawn; the question itself then finds it there. Only for a trace that does not grow.
 */
import { bTreesIn } from '../../trace/analysis/b-trees.ts';
import { checkpointsIn } from '../../trace/analysis/checkpoints.ts';
import { databaseSettingsOf } from '../../trace/analysis/database-settings.ts';
import { findingContext, RULES } from '../../trace/analysis/findings/index.ts';
import { pagesIn } from '../../trace/analysis/pages.ts';
import type { Analyses } from '../../trace/analysis/shared.ts';
import { sharedTable } from '../../trace/analysis/statement-table.ts';
import { sharedSummary } from '../../trace/analysis/summary.ts';
import { walsIn } from '../../trace/analysis/wal.ts';
import type { QueryName } from './queries/index.ts';
import { PATTERNS } from './queries/patterns.ts';

/** Traces with fewer events are answered at once. */
export const STEPS_FROM_EVENTS = 100_000;

/** What the timeline's derived lanes and the live numbers need. */
export function* timelineSteps(shared: Analyses): Generator<void> {
  for (const thread of shared.store.threads) yield void shared.pieces(thread);
  yield void shared.transactions;
  yield void shared.anatomies;
  yield void shared.commits;
}

function* partitions(shared: Analyses): Generator<void> {
  for (const thread of shared.store.threads) yield void shared.partition(thread);
}
function* overview(shared: Analyses): Generator<void> {
  yield* partitions(shared);
  yield void shared.transactions;
  yield void shared.anatomies;
  yield void shared.statements;
  yield void sharedSummary(shared);
  yield void shared.databaseFiles;
  yield void shared.accesses;
  for (const thread of shared.store.threads) yield void shared.owners(thread);
  yield void pagesIn(shared);
  yield void databaseSettingsOf(shared.store, shared);
  yield* logs(shared);
}
function* findings(shared: Analyses): Generator<void> {
  yield void shared.transactions;
  const context = findingContext(shared);
  yield;
  for (const rule of RULES) yield void context.found(rule);
}
function* statements(shared: Analyses): Generator<void> {
  for (const thread of shared.store.threads) {
    yield void shared.owners(thread);
    yield void shared.executions(thread);
    yield void shared.byStatement(thread);
  }
  yield void shared.accesses;
  yield void sharedTable(shared);
}
function* transactions(shared: Analyses): Generator<void> {
  yield void shared.transactions;
  yield void shared.anatomies;
  yield* partitions(shared);
}
function* pages(shared: Analyses): Generator<void> {
  yield void shared.databaseFiles;
  yield void shared.accesses;
  yield void bTreesIn(shared);
}
function* logs(shared: Analyses): Generator<void> {
  yield void walsIn(shared);
  yield void checkpointsIn(shared);
}
function* comparison(shared: Analyses): Generator<void> {
  yield* overview(shared);
  yield* findings(shared);
}
function* fileUse(shared: Analyses): Generator<void> {
  for (const thread of shared.store.threads) yield void shared.owners(thread);
  yield void shared.accesses;
  yield void shared.transactions;
  for (const pattern of Object.values(PATTERNS)) yield void pattern(shared);
}
function* markdown(shared: Analyses): Generator<void> {
  yield* overview(shared);
  yield* statements(shared);
  yield* findings(shared);
}

/** By question; those that are not here answer quickly, or pause by themselves. */
const STEPS: Partial<Record<QueryName, (shared: Analyses) => Generator<void>>> = {
  ...{ overview, findings, statements, transactions, threadPartitions: partitions, comparison },
  ...{ transaction: transactions, transactionOf: transactions, fileLines: pages, pageMap: pages, pageTable: pages },
  ...{ wal: logs, markdownReport: markdown, fileUse },
};

/** @returns null for a question that needs no steps */
export const stepsOf = (name: QueryName, shared: Analyses): Generator<void> | null => STEPS[name]?.(shared) ?? null;
