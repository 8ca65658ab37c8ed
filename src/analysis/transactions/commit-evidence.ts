/**
 * Commits for findings, by their indices in the table of anatomies, which the Transactions view
 * shows.
 */
import type { FileKind } from '../../event/definitions.ts';
import { Op } from '../../event/event.ts';
import { STORAGE_WRITES } from '../../event/operations.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { toNs } from '../../trace/lanes/sweep.ts';
import { fact } from '../core/graph.ts';
import { Evidence, type Cost, type FindingContext } from '../rules/context.ts';
import { lockWaitTimes, NO_WAITS, unblocked } from '../locks/lock-waits.ts';
import { VFS_CALLS, type CallCount, type VfsCallCount } from './anatomy-table.ts';
import { anatomies } from './transaction-anatomy.ts';
import { isTimedCall } from './transaction-time.ts';
import { transactions } from './transactions.ts';

/** By thread, each in order of time. */
export const commitPlaces = fact(
  'commitPlaces',
  'commits',
  { transactions },
  (_, { transactions: { list } }) =>
    Array.from({ length: list.length }, (_, i) => i).filter((i) => list.outcome(i) === 'committed'),
);

const NAMES: Readonly<Record<VfsCallCount, string>> = {
  locks: 'locks',
  unlocks: 'unlocks',
  accesses: 'checks for files',
  dbReads: 'database reads',
  dbWrites: 'database writes',
  walReads: 'WAL reads',
  walWrites: 'WAL writes',
  journalReads: 'journal reads',
  journalWrites: 'journal writes',
  journalSyncs: 'journal syncs',
  journalOpens: 'journal opens',
  journalCloses: 'journal closes',
  journalDeletes: 'journal deletes',
  journalTruncates: 'journal truncates',
};
/** The operation, name, and file kind of such calls, for Saving. */
export function called(count: VfsCallCount): [op: number, name: string, kind: FileKind | ''] {
  const [op, kind] = VFS_CALLS[count];
  return [op, NAMES[count], kind];
}

/** Their calls of a kind, summed. */
export const callsOf = (
  ctx: FindingContext,
  commits: readonly number[],
  count: CallCount | 'syncs',
): number => {
  const calls = ctx.get(anatomies)[count];
  return commits.reduce((n, i) => n + calls[i]!, 0);
};

interface CommitCalls {
  /** The commits, and the time of their transactions' VFS calls without waits for locks. */
  evidence: Evidence;
  /** Cost of their xLock calls, without waits. */
  locks: Cost;
  /** How long other connections' locks blocked them. */
  waitedUs: number;
}

/**
 * The cost of commits: the VFS calls of their transactions' connections, each moment once. Waits
 * for locks count for the holder instead.
 * @param kind only calls on such files
 * @param shown by commit, the row to show instead of its commit point; others aren't shown
 */
export function commitCalls(
  ctx: FindingContext,
  commits: readonly number[],
  kind?: FileKind,
  shown?: ReadonlyMap<number, number>,
): CommitCalls {
  const found: CommitCalls = { evidence: new Evidence(), locks: { calls: 0, us: 0 }, waitedUs: 0 };
  // a function that is called often is compiled sooner than a loop inside it
  for (const i of commits) takeCommit(ctx, i, kind, found, shown);
  return found;
}
function takeCommit(
  ctx: FindingContext,
  i: number,
  kind: FileKind | undefined,
  found: CommitCalls,
  shown?: ReadonlyMap<number, number>,
): void {
  const { evidence, locks } = found;
  const all = ctx.get(anatomies);
  const { thread, commitRow, beginRow, context } = all.transactions;
  const own = ctx.store.threads[thread[i]!]!;
  const { blocked } = ctx.get(lockWaitTimes).get(own) ?? NO_WAITS;
  const { op, t0, dur, object, count } = own.events;
  const connection = context[i]!;
  evidence.count++;
  evidence.bytes += all.bytesWritten(i);
  if (!shown?.size) evidence.show(thread[i]!, commitRow[i]! >= 0 ? commitRow[i]! : beginRow[i]!);
  else evidence.show(thread[i]!, shown.get(i) ?? -1);
  const toUs = all.toUs[i]!;
  evidence.span(all.fromUs[i]!, toUs);
  let at = all.fromUs[i]!;
  for (let row = all.fromRow[i]!; row < count && t0[row]! < toUs; row++) {
    if (!isTimedCall(own.events, row, connection)) continue;
    if (kind && ctx.file(own, object[row]!)?.kind !== kind) continue;
    const end = t0[row]! + dur[row]!;
    const from = at > t0[row]! ? at : t0[row]!;
    const to = end > toUs ? toUs : end;
    if (op[row] === Op.xLock) locks.calls++;
    if (to <= from) continue;
    at = to;
    const spans = blocked.length ? unblocked(blocked, from, to) : null;
    let us = 0;
    if (!spans) {
      us = toNs(to) / 1000 - toNs(from) / 1000;
      if (from === t0[row] && to === end) evidence.call(own, row);
      else if (us > 0) evidence.ran(own, toNs(from) / 1000, toNs(to) / 1000);
    } else
      for (let s = 0; s < spans.length; s += 2) {
        us += spans[s + 1]! - spans[s]!;
        evidence.ran(own, spans[s]!, spans[s + 1]!);
      }
    evidence.us += us;
    if (spans) found.waitedUs += to - from - us;
    if (op[row] === Op.xLock) locks.us += us;
  }
}
/** The commits as evidence. @param kind as above */
export const commitEvidence = (
  ctx: FindingContext,
  commits: readonly number[],
  kind?: FileKind,
): Evidence => commitCalls(ctx, commits, kind).evidence;

/**
 * No thread wrote to the browser's storage from the first to the last of these commits: the
 * database is in memory, where a commit costs almost nothing. Always false if a thread's storage
 * calls weren't recorded from its beginning.
 */
export function nothingStored(ctx: FindingContext, commits: readonly number[]): boolean {
  const { threads } = ctx.store;
  const seesStorage = ({ environment, notes }: ThreadStore): boolean =>
    environment !== null && notes.length === 0 && environment.capture.layers.includes('web');
  if (!threads.every(seesStorage)) return false;
  const all = ctx.get(anatomies);
  const fromUs = commits.reduce((us, i) => Math.min(us, all.fromUs[i]!), Infinity);
  const toUs = commits.reduce((us, i) => Math.max(us, all.toUs[i]!), -Infinity);
  return threads.every((thread) =>
    STORAGE_WRITES.every((op) => {
      const rows = ctx.rows(thread, op);
      for (const row of rows)
        if (thread.events.t0[row]! >= fromUs && thread.events.t0[row]! <= toUs) return false;
      return true;
    }),
  );
}
