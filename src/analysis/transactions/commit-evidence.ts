/** Commits as findings count them: by their places in the table of anatomies, which the Transactions view shows. */
import type { FileKind } from '../../event/definitions.ts';
import { Op } from '../../event/event.ts';
import { STORAGE_WRITES } from '../../event/operations.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { fact } from '../core/graph.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import type { CallCount } from './anatomy-table.ts';
import { anatomies } from './transaction-anatomy.ts';
import { transactions } from './transactions.ts';

/** Thread by thread, each in order of time. */
export const commitPlaces = fact(
  'commitPlaces',
  'commits',
  { transactions },
  (_, { transactions: { list } }) =>
    Array.from({ length: list.length }, (_, i) => i).filter((i) => list.outcome(i) === 'committed'),
);

/** What calls are, as Saving takes them. */
export const CALLED: Readonly<
  Record<
    Exclude<CallCount, 'walReads' | 'atomicBegins' | 'webWrites'>,
    readonly [op: number, name: string, kind: FileKind | '']
  >
> = {
  locks: [Op.xLock, 'locks', ''],
  unlocks: [Op.xUnlock, 'unlocks', ''],
  accesses: [Op.xAccess, 'xAccess', ''],
  dbReads: [Op.xRead, 'database reads', 'main-db'],
  dbWrites: [Op.xWrite, 'database writes', 'main-db'],
  walWrites: [Op.xWrite, 'WAL writes', 'wal'],
  journalReads: [Op.xRead, 'journal reads', 'journal'],
  journalWrites: [Op.xWrite, 'journal writes', 'journal'],
  journalSyncs: [Op.xSync, 'journal syncs', 'journal'],
  journalOpens: [Op.xOpen, 'journal opens', 'journal'],
  journalCloses: [Op.xClose, 'journal closes', 'journal'],
  journalDeletes: [Op.xDelete, 'journal deletes', 'journal'],
  journalTruncates: [Op.xTruncate, 'journal truncates', 'journal'],
};

/** Their calls of a kind, added up. */
export const callsOf = (
  ctx: FindingContext,
  commits: readonly number[],
  count: CallCount | 'syncs',
): number => {
  const calls = ctx.get(anatomies)[count];
  return commits.reduce((n, i) => n + calls[i]!, 0);
};

export function commitEvidence(ctx: FindingContext, commits: readonly number[]): Evidence {
  const evidence = new Evidence();
  const all = ctx.get(anatomies);
  const { thread, commitRow, beginRow } = all.transactions;
  for (const i of commits) {
    evidence.count++;
    evidence.bytes += all.bytesWritten(i);
    evidence.us += all.vfsUs(i);
    evidence.show(thread[i]!, commitRow[i]! >= 0 ? commitRow[i]! : beginRow[i]!);
    evidence.span(all.fromUs[i]!, all.toUs[i]!);
    const { commitUs, fromUs, toUs } = all;
    const known = !Number.isNaN(commitUs[i]!);
    evidence.ran(ctx.store.threads[thread[i]!]!, (known ? commitUs : fromUs)[i]!, toUs[i]!);
  }
  return evidence;
}

/**
 * No storage of the browser was written, on any thread, from the first to the last of these commits: the database lives in memory, where
 * a commit costs next to nothing. Never said where a thread's storage calls were not recorded from its beginning.
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
