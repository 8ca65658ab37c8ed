/**
 * Long queries in steps: what a query needs is computed piece by piece into what analyses share, with pauses in which frames of the
 * timeline are drawn, and in which a query that nobody waits for any more is given up; the query itself then finds it there. Only
 * for a trace that does not grow.
 */
import { bTreesIn } from '../../analysis/pages/b-trees.ts';
import { checkpointsIn } from '../../analysis/wal/checkpoints.ts';
import { databaseSettingsOf } from '../../analysis/pages/database-settings.ts';
import { findingContext, RULES } from '../../analysis/findings/index.ts';
import { pagesIn } from '../../analysis/pages/pages.ts';
import type { Analyses } from '../../analysis/shared.ts';
import { sharedTable } from '../../analysis/statements/statement-table.ts';
import { sharedSummary } from '../../analysis/report/summary.ts';
import { walsIn } from '../../analysis/wal/wal.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { coldWarmIn, curvesIn, reportIn } from './queries/cache.ts';
import type { QueryName } from './query-table.ts';
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
  readonly run: () => Generator<void> | null;
}
/** @param other of the trace that this one is compared with */
type StepsOf = (shared: Analyses, other: Analyses | null) => Step[];

const step = (what: string, make: () => unknown): Step => ({
  what,
  run() {
    make();
    return null;
  },
});
const byThread = (
  what: string,
  { store }: Analyses,
  make: (thread: ThreadStore) => unknown,
): Step[] => store.threads.map((thread) => step(what, () => make(thread)));

const transactionTable = (shared: Analyses): Step =>
  step('transactions', () => shared.transactions);
const anatomies = (shared: Analyses): Step => ({
  what: 'what each transaction did',
  run: () => shared.anatomiesInParts(),
});
const accesses = (shared: Analyses): Step => ({
  what: 'reads and writes of pages',
  run: () => shared.accessesInParts(),
});
const owners = (shared: Analyses): Step[] =>
  byThread('which statement each call serves', shared, (thread) => shared.owners(thread));

const pieces = (shared: Analyses): Step[] =>
  byThread('time with SQL in flight', shared, (thread) => shared.pieces(thread));

/** What the timeline's derived lanes and the live numbers need. */
export const timelineSteps = (shared: Analyses): Step[] => [
  ...pieces(shared),
  transactionTable(shared),
  anatomies(shared),
  step('commits', () => shared.commits),
];

const partitions = (shared: Analyses): Step[] =>
  byThread('where the time went', shared, (thread) => shared.partition(thread));
const logs = (shared: Analyses): Step[] => [
  step('write-ahead logs', () => walsIn(shared)),
  step('checkpoints', () => checkpointsIn(shared)),
];
const overview = (shared: Analyses): Step[] => [
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
const findings = (shared: Analyses): Step[] => [
  transactionTable(shared),
  accesses(shared),
  step('calls by operation', () => findingContext(shared)),
  ...RULES.map((rule) =>
    step(`${rule.id} ${rule.title}`, () => findingContext(shared).found(rule)),
  ),
];
const report = (shared: Analyses): Step[] => [...overview(shared), ...findings(shared)];
/** The same of both traces. */
const ofBoth =
  (of: (shared: Analyses) => Step[]): StepsOf =>
  (shared, other) => [
    ...of(shared),
    ...(other ? of(other).map(({ what, run }): Step => ({ what: `${what}, in B`, run })) : []),
  ];
const statements = (shared: Analyses): Step[] => [
  ...owners(shared),
  ...byThread('executions', shared, (thread) => shared.executions(thread)),
  ...byThread('time of each statement', shared, (thread) => shared.byStatement(thread)),
  accesses(shared),
  step('statements', () => sharedTable(shared)),
];
const transactions: StepsOf = (shared) => [
  transactionTable(shared),
  anatomies(shared),
  ...partitions(shared),
];
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
const coldWarm = (shared: Analyses): Step[] => [
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

/** By query; those that are not here answer quickly, or pause by themselves. */
const STEPS: Partial<Record<QueryName, StepsOf>> = {
  overview,
  findings,
  statements,
  transactions,
  fileUse,
  locks,
  cache,
  cacheCurves: curves,
  cacheTimes: coldWarm,
  threadPartitions: partitions,
  transaction: transactions,
  transactionOf: transactions,
  fileLines: pages,
  pageMap: pages,
  pageTable: pages,
  placeEvents: pages,
  wal: logs,
  lockFrame: locks,
  staleCaches: (shared: Analyses) => [step('databases', () => shared.databaseFiles)],
  statementRuns: (shared: Analyses) =>
    byThread('executions', shared, (thread) => shared.executions(thread)),
  comparison: ofBoth(report),
  compareStrips: ofBoth(pieces),
  markdownReport: (shared: Analyses) => [...report(shared), ...statements(shared)],
};

/** @returns null for a query that needs no steps */
export const stepsOf = (
  name: QueryName,
  shared: Analyses,
  other: Analyses | null = null,
): Step[] | null => STEPS[name]?.(shared, other) ?? null;
