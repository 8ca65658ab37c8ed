/**
 * Long questions in steps: what a question needs is computed piece by piece into what analyses share, with pauses in which frames of the
 * timeline are drawn, and in which a question that nobody waits for any more is given up; the question itself then finds it there. Only
 * for a trace that does not grow.
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
import type { ThreadStore } from '../../trace/store.ts';
import { coldWarmIn, curvesIn, reportIn } from './queries/cache.ts';
import type { QueryName } from './queries/index.ts';
import { locksIn } from './queries/lock-lanes.ts';
import { blocksIn } from './queries/pages.ts';
import { PATTERNS } from './queries/patterns.ts';

/** Traces with fewer events are answered at once. */
export const STEPS_FROM_EVENTS = 100_000;

/** One piece of work. */
export interface Step {
  /** What is computed, as the user reads it while he waits. */
  readonly what: string;
  /** Computes it, if nobody has. @returns pauses within, where it may take longer than half a second */
  run(): Generator<void> | null;
}
type StepsOf = (shared: Analyses) => Step[];

const step = (what: string, make: () => unknown): Step => ({
  what,
  run() {
    make();
    return null;
  },
});
const byThread = (what: string, { store }: Analyses, make: (thread: ThreadStore) => unknown): Step[] =>
  store.threads.map((thread) => step(what, () => make(thread)));

const transactionTable = (shared: Analyses): Step => step('transactions', () => shared.transactions);
const anatomies = (shared: Analyses): Step => ({ what: 'what each transaction did', run: () => shared.anatomiesInParts() });
const accesses = (shared: Analyses): Step => ({ what: 'reads and writes of pages', run: () => shared.accessesInParts() });
const owners: StepsOf = (shared) => byThread('which statement each call serves', shared, (thread) => shared.owners(thread));

/** What the timeline's derived lanes and the live numbers need. */
export const timelineSteps: StepsOf = (shared) => [
  ...byThread('time with SQL in flight', shared, (thread) => shared.pieces(thread)),
  transactionTable(shared),
  anatomies(shared),
  step('commits', () => shared.commits),
];

const partitions: StepsOf = (shared) => byThread('where the time went', shared, (thread) => shared.partition(thread));
const logs: StepsOf = (shared) => [step('write-ahead logs', () => walsIn(shared)), step('checkpoints', () => checkpointsIn(shared))];
const overview: StepsOf = (shared) => [
  ...partitions(shared),
  transactionTable(shared),
  anatomies(shared),
  step('statements', () => shared.statements),
  step('calls by file', () => sharedSummary(shared)),
  step('databases', () => shared.databaseFiles),
  accesses(shared),
  ...owners(shared),
  step('pages', () => pagesIn(shared)),
  step('settings of the databases', () => databaseSettingsOf(shared.store, shared)),
  ...logs(shared),
];
const findings: StepsOf = (shared) => [
  transactionTable(shared),
  accesses(shared),
  step('calls by operation', () => findingContext(shared)),
  ...RULES.map((rule) => step(`${rule.id} ${rule.title}`, () => findingContext(shared).found(rule))),
];
const statements: StepsOf = (shared) => [
  ...owners(shared),
  ...byThread('executions', shared, (thread) => shared.executions(thread)),
  ...byThread('time of each statement', shared, (thread) => shared.byStatement(thread)),
  accesses(shared),
  step('statements', () => sharedTable(shared)),
];
const transactions: StepsOf = (shared) => [transactionTable(shared), anatomies(shared), ...partitions(shared)];
const pages: StepsOf = (shared) => [
  step('databases', () => shared.databaseFiles),
  accesses(shared),
  step('blocks of the storage', () => blocksIn(shared)),
  step('tables and indexes', () => bTreesIn(shared)),
  step('pages', () => pagesIn(shared)),
];
const fileUse: StepsOf = (shared) => [
  ...owners(shared),
  accesses(shared),
  transactionTable(shared),
  ...Object.values(PATTERNS).map((pattern) => step('how files are used', () => pattern(shared))),
];
const locks: StepsOf = (shared) => [step('holds and waits', () => locksIn(shared))];
const curves: StepsOf = (shared) => [
  accesses(shared),
  transactionTable(shared),
  step('pages that change together', () => shared.dirtyPages),
  step('misses of caches of every size', () => curvesIn(shared)),
];
const coldWarm: StepsOf = (shared) => [
  ...owners(shared),
  ...byThread('executions', shared, (thread) => shared.executions(thread)),
  accesses(shared),
  step('first runs and later ones', () => coldWarmIn(shared)),
];
const cache: StepsOf = (shared) => [
  ...statements(shared),
  step('pages', () => pagesIn(shared)),
  step('caches', () => reportIn(shared)),
  ...coldWarm(shared),
];

/** By question; those that are not here answer quickly, or pause by themselves. */
const STEPS: Partial<Record<QueryName, StepsOf>> = {
  ...{ overview, findings, statements, transactions, fileUse, locks, cache, cacheCurves: curves, cacheTimes: coldWarm },
  ...{ threadPartitions: partitions, transaction: transactions, transactionOf: transactions },
  ...{ fileLines: pages, pageMap: pages, pageTable: pages, placeEvents: pages, wal: logs, lockFrame: locks },
  ...{ staleCaches: (shared: Analyses) => [step('databases', () => shared.databaseFiles)] },
  statementRuns: (shared: Analyses) => byThread('executions', shared, (thread) => shared.executions(thread)),
  comparison: (shared: Analyses) => [...overview(shared), ...findings(shared)],
  markdownReport: (shared: Analyses) => [...overview(shared), ...statements(shared), ...findings(shared)],
};

/** @returns null for a question that needs no steps */
export const stepsOf = (name: QueryName, shared: Analyses): Step[] | null => STEPS[name]?.(shared) ?? null;
