/** All findings of a trace, the largest saving first. Each rule is in a file with related ones. */
import { leakedHandles } from '../files/leaked-handles.ts';
import { refusedHandles } from '../locks/refused-handles.ts';
import { shortWrite } from '../errors/short-write.ts';
import { fact, type Known } from '../core/graph.ts';
import { isWebOp } from '../../event/operations.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { COVERAGE_NEEDS, coverageOf, explainedUs } from './named-time.ts';
import {
  changeCounterPolling,
  pageDoesNotFitBlock,
  readModifyWrite,
  smallCalls,
  versionedKeys,
} from '../pages/rules.ts';
import { cacheTooSmall, coldStart, pageTooSmall } from '../cache/rules.ts';
import { findingContext, type NamedTime } from '../rules/context.ts';
import { tellable } from '../rules/saving.ts';
import { storageGivenUp } from '../errors/storage-loss.ts';
import {
  handleChurn,
  handleLeftBehind,
  lockedOut,
  poolFull,
  tooManyHandles,
} from '../files/handles.ts';
import { quotaExceeded } from '../errors/quota.ts';
import {
  malformed,
  notIsolated,
  outOfStack,
  storageRefused,
  writeWithoutLock,
} from '../errors/health.ts';
import { heldAcrossAwaits } from '../transactions/held-transactions.ts';
import { idbKilled, openBlocked } from '../idb/idb-health.ts';
import {
  durabilityTier,
  readersInReadwrite,
  sequentialGets,
  transactionPerBlock,
} from '../idb/rules.ts';
import {
  batchAtomicLost,
  rollbackJournalCost,
  synchronousOffOnBatchAtomic,
  walRefused,
} from '../transactions/journal.ts';
import { autocommitReads, oneTransactionPerStatement } from '../transactions/one-by-one.ts';
import { endedAtMost, grewInCall, memoryGrows, neverFinalized } from '../memory/rules.ts';
import { blockedPage } from '../messages/blocked-page.ts';
import { waitedInQueue } from '../messages/rules.ts';
import { tempFiles, vacuum } from '../statements/rewrites.ts';
import { automaticIndex, fullScan, sortInEachRun } from '../statements/missing-indexes.ts';
import { onePerRow } from '../statements/one-per-row.ts';
import { preparedAgain } from '../statements/prepared-again.ts';
import { sameAgain } from '../statements/same-again.ts';
import { flushCost, lostOnLeaving, wholeFileSaves, writableCopies } from '../idb/saves.ts';
import { SURE, type Finding, type Rule } from '../rules/types.ts';
import { busyStorm, frozenHolder, hang, proxyOverhead } from '../locks/rules.ts';
import { checkpointCopies, walGrows } from '../wal/rules.ts';

export { badges } from './badges.ts';
export type { Badge, Finding } from '../rules/types.ts';

/** By id. */
export const RULES: readonly Rule[] = [
  oneTransactionPerStatement,
  autocommitReads,
  lockedOut,
  handleLeftBehind,
  hang,
  busyStorm,
  rollbackJournalCost,
  walRefused,
  readModifyWrite,
  transactionPerBlock,
  cacheTooSmall,
  batchAtomicLost,
  walGrows,
  flushCost,
  durabilityTier,
  storageRefused,
  readersInReadwrite,
  sequentialGets,
  versionedKeys,
  pageDoesNotFitBlock,
  pageTooSmall,
  coldStart,
  wholeFileSaves,
  lostOnLeaving,
  synchronousOffOnBatchAtomic,
  heldAcrossAwaits,
  frozenHolder,
  idbKilled,
  openBlocked,
  outOfStack,
  grewInCall,
  malformed,
  writeWithoutLock,
  notIsolated,
  poolFull,
  tempFiles,
  tooManyHandles,
  handleChurn,
  proxyOverhead,
  vacuum,
  checkpointCopies,
  quotaExceeded,
  writableCopies,
  smallCalls,
  changeCounterPolling,
  storageGivenUp,
  shortWrite,
  refusedHandles,
  leakedHandles,
  fullScan,
  automaticIndex,
  sortInEachRun,
  preparedAgain,
  onePerRow,
  sameAgain,
  neverFinalized,
  memoryGrows,
  endedAtMost,
  waitedInQueue,
  blockedPage,
];

/** A finding, and the time that it is about. */
interface Told {
  finding: Finding;
  named: ReadonlyMap<ThreadStore, NamedTime>;
}

/** What each rule finds, by its id. */
const found = Object.fromEntries(
  RULES.map((rule) => [
    rule.id,
    fact(
      `finding ${rule.id}`,
      `${rule.id} ${rule.title}`,
      { ...rule.needs, findingContext },
      (_, { findingContext: ctx }) =>
        [rule.run(ctx)].flat().map((made): Told => {
          const { named, ...evidence } = made.evidence;
          const finding = { rule: rule.id, ...made, evidence };
          return { finding: tellable(finding, ctx.clockStepUs), named };
        }),
    ),
  ]),
);

/** The largest saving first. Those with an unknown saving follow, the most certain first. */
export const toldFindings = fact('toldFindings', 'findings', found, (_, known): Told[] =>
  Object.values(known)
    .flat()
    .sort(
      ({ finding: a }, { finding: b }) =>
        (b.savingUs ?? -1) - (a.savingUs ?? -1) ||
        SURE[a.confidence] - SURE[b.confidence] ||
        b.evidence.count - a.evidence.count ||
        (a.rule < b.rule ? -1 : 1),
    ),
);
export const findings = fact(
  'findings',
  'findings',
  { ...COVERAGE_NEEDS, toldFindings },
  (store, known): Finding[] =>
    known.toldFindings.map(({ finding, named }) =>
      savesOutside(store, known, finding, named) ? { ...finding, savesOutsideSql: true } : finding,
    ),
);

/** Whether most of a saving is time in which no SQL runs. */
function savesOutside(
  store: TraceStore,
  known: Known<typeof COVERAGE_NEEDS>,
  { savingUs }: Finding,
  named: Told['named'],
): boolean {
  if (!known.sqliteThreads.length) return false; // an engine's SQL may not be visible
  // SQL runs while a call of SQLite or its VFS is open
  const inSql = [...named].some(([{ events }, { calls }]) => {
    const op = events.op[calls[0] ?? -1];
    return op !== undefined && !isWebOp(op);
  });
  return !inSql && !!savingUs && 2 * explainedUs(coverageOf(store, known, [named])) < savingUs;
}
