/**
 * What the rollback journal costs, and where it comes from though nobody wanted it.
 *
 *   F07   open j, write j x8, sync j x2, write db, sync db, close j, delete j       WAL: two writes a page
 *   F12   a batch-atomic VFS (no journal needed) opens one: the page cache spilled in the middle of a transaction, or it covers two files
 *   F25   synchronous=OFF on a batch-atomic VFS: neither atomic write nor journal
 */
import { Op } from '../../event/event.ts';
import { commitCosts, nothingStored, type CommitCost } from './commit-costs.ts';
import { Evidence, type FindingContext, findingFact } from '../rules/context.ts';
import { noSaving, Saving } from '../rules/saving.ts';
import type { Found, Rule } from '../rules/types.ts';
import { countOf, formatCount, formatShare } from '../../text/numbers.ts';

const IOCAP_BATCH_ATOMIC = 0x4000;
/** Fewer commits say little of what an app does. */
const FEW_COMMITS = 10;
/** A header and one page: what a new database's first commit writes is less. */
const SPILLED = 4;

/** Databases whose VFS says that it can write atomically: keys of `databaseKey`. */
const batchAtomic = findingFact('batchAtomic', 'databases with atomic writes', batchAtomicOf);

function batchAtomicOf(ctx: FindingContext): ReadonlySet<string> {
  const found = new Set<string>();
  ctx.each(Op.xDeviceCharacteristics, (thread, row) => {
    const { events } = thread;
    const file = ctx.file(thread, events.object[row]!);
    if (file?.kind === 'main-db' && events.result[row]! & IOCAP_BATCH_ATOMIC)
      found.add(databaseKey(thread.index, file.path));
  });
  return found;
}
const databaseKey = (thread: number, path: string): string => `${thread}\0${path}`;

function byDatabase(commits: readonly CommitCost[]): Map<string, CommitCost[]> {
  const found = new Map<string, CommitCost[]>();
  for (const c of commits) {
    const list = found.get(c.transaction.path);
    if (list) list.push(c);
    else found.set(c.transaction.path, [c]);
  }
  return found;
}

function evidenceOf(ctx: FindingContext, commits: readonly CommitCost[]): Evidence {
  const evidence = new Evidence();
  for (const c of commits) {
    const { events } = ctx.store.threads[c.transaction.thread]!;
    evidence.count++;
    evidence.us += c.us;
    evidence.show(
      c.transaction.thread,
      c.transaction.commitRow >= 0 ? c.transaction.commitRow : c.fromRow,
    );
    evidence.span(events.t0[c.fromRow]!, events.t0[c.toRow]! + events.dur[c.toRow]!);
  }
  return evidence;
}

/** Adds the calls on the journal of these commits to a saving. */
function journalCalls(saving: Saving, commits: readonly CommitCost[]): Saving {
  const sum = (of: (c: CommitCost) => number): number => commits.reduce((n, c) => n + of(c), 0);
  return saving
    .avoid(
      sum((c) => c.calls('journalSyncs')),
      Op.xSync,
      'journal syncs',
      'journal',
    )
    .avoid(
      sum((c) => c.calls('journalWrites')),
      Op.xWrite,
      'journal writes',
      'journal',
    )
    .avoid(
      sum((c) => c.calls('journalReads')),
      Op.xRead,
      'journal reads',
      'journal',
    )
    .avoid(
      sum((c) => c.calls('journalOpens')),
      Op.xOpen,
      'journal opens',
      'journal',
    )
    .avoid(
      sum((c) => c.calls('journalCloses')),
      Op.xClose,
      'journal closes',
      'journal',
    )
    .avoid(
      sum((c) => c.calls('journalDeletes')),
      Op.xDelete,
      'journal deletes',
      'journal',
    )
    .avoid(
      sum((c) => c.calls('journalTruncates')),
      Op.xTruncate,
      'journal truncates',
      'journal',
    );
}

export const rollbackJournalCost: Rule = {
  id: 'F07',
  title: 'Rollback journal cost',
  run(ctx) {
    const journalled = ctx
      .get(commitCosts)
      .filter(
        (c) => c.transaction.commitPoint?.startsWith('journal') && c.calls('journalWrites') > 0,
      );
    const found: Found[] = [];
    for (const [path, commits] of byDatabase(journalled)) {
      const atomic = commits.some((c) =>
        ctx.get(batchAtomic).has(databaseKey(c.transaction.thread, path)),
      );
      if (commits.length < FEW_COMMITS || atomic || nothingStored(ctx, commits)) continue;
      const evidence = evidenceOf(ctx, commits);
      const sum = (of: (c: CommitCost) => number): number => commits.reduce((n, c) => n + of(c), 0);
      const writes = sum((c) => c.calls('journalWrites'));
      const syncs = sum((c) => c.calls('journalSyncs'));
      const connections = new Set(
        commits.map((c) => `${c.transaction.thread} ${c.transaction.context}`),
      ).size;
      const saving = journalCalls(new Saving(ctx), commits).instead(
        sum((c) => c.calls('dbWrites')),
        Op.xWrite,
        'writes of frame headers',
        'main-db',
      );
      const others = sum((c) => c.calls('dbWrites'));
      found.push({
        title: `${formatCount(commits.length)} commits on ${path} by rollback journal: ${countOf(writes, 'journal write')} and ${countOf(syncs, 'journal sync')} beside ${countOf(others, 'database write')} (${formatShare(writes / (writes + others))} of all writes)`,
        evidence: evidence.result(ctx),
        ...saving.result(),
        confidence: connections === 1 ? 'likely' : 'possible',
        reason:
          connections === 1
            ? 'one connection is seen to write here, so an exclusive WAL would serve; another tab or worker may use the database outside this recording'
            : `${formatCount(connections)} connections write this database: a WAL without shared memory needs locking_mode=exclusive, which they cannot have`,
        advice:
          'Set locking_mode=exclusive, then journal_mode=wal, where one connection is all there is; or use a VFS with batch-atomic writes, which needs no journal.',
        link: 'https://www.sqlite.org/wal.html#noshm',
        tryInLab: 'journal-modes',
      });
    }
    return found;
  },
};

/** Rows of calls that open a super-journal, by thread. */
const superJournals = findingFact('superJournals', 'super-journals', superJournalsOf);

function superJournalsOf(ctx: FindingContext): Map<number, number[]> {
  const found = new Map<number, number[]>();
  ctx.each(Op.xOpen, (thread, row) => {
    if (!/-mj[0-9A-F]{6,}$/.test(ctx.file(thread, thread.events.object[row]!)?.path ?? '')) return;
    const rows = found.get(thread.index);
    if (rows) rows.push(row);
    else found.set(thread.index, [row]);
  });
  return found;
}
function coversSeveral(
  rows: ReadonlyMap<number, readonly number[]>,
  { transaction, fromRow, toRow }: CommitCost,
): boolean {
  return (rows.get(transaction.thread) ?? []).some((row) => row >= fromRow && row <= toRow);
}

export const batchAtomicLost: Rule = {
  id: 'F12',
  title: 'Batch-atomic lost by cache spill',
  run(ctx) {
    const atomic = ctx.get(batchAtomic);
    const spilled = ctx
      .get(commitCosts)
      .filter(
        (c) =>
          c.calls('journalWrites') >= SPILLED &&
          c.calls('atomicBegins') === 0 &&
          atomic.has(databaseKey(c.transaction.thread, c.transaction.path)),
      );
    const several = ctx.get(superJournals);
    const groups = [true, false].map((many) =>
      byDatabase(spilled.filter((c) => coversSeveral(several, c) === many)),
    );
    const found = groups.flatMap((group, i) =>
      [...group].map(([path, commits]) => ({ path, commits, many: i === 0 })),
    );
    return found.map(({ path, commits, many }): Found => {
      const sum = (of: (c: CommitCost) => number): number => commits.reduce((n, c) => n + of(c), 0);
      const writes = sum((c) => c.calls('journalWrites'));
      const evidence = evidenceOf(ctx, commits);
      return {
        title: `${countOf(commits.length, 'transaction')} on ${path} fell back to a rollback journal although the VFS writes atomically: ${countOf(writes, 'journal write')}, ${countOf(
          sum((c) => c.calls('syncs')),
          'sync',
        )}`,
        evidence: evidence.result(ctx),
        ...journalCalls(new Saving(ctx), commits).result(),
        confidence: many ? 'certain' : 'likely',
        reason: many
          ? 'each covers several databases, so that a super-journal had to name the journal of every one'
          : 'the VFS announces SQLITE_IOCAP_BATCH_ATOMIC and a journal file was opened inside the transaction: its pages did not fit into the page cache',
        advice: many
          ? 'Keep what changes together in one database: a transaction over attached databases cannot be written atomically.'
          : 'Raise PRAGMA cache_size above the pages that the largest transaction changes.',
        link: many
          ? 'https://www.sqlite.org/atomiccommit.html#_multi_file_commit'
          : 'https://www.sqlite.org/c3ref/c_iocap_atomic.html',
        ...(many ? {} : { tryInLab: 'spill' }),
      };
    });
  },
};

export const synchronousOffOnBatchAtomic: Rule = {
  id: 'F25',
  title: 'synchronous=OFF on a batch-atomic VFS',
  run(ctx) {
    const atomic = ctx.get(batchAtomic);
    const bare = ctx
      .get(commitCosts)
      .filter(
        (c) =>
          c.transaction.commitPoint === 'database write' &&
          c.calls('atomicBegins') === 0 &&
          c.calls('syncs') === 0 &&
          c.calls('journalWrites') === 0 &&
          atomic.has(databaseKey(c.transaction.thread, c.transaction.path)),
      );
    return [...byDatabase(bare)].map(([path, commits]): Found => ({
      title: `${countOf(commits.length, 'transaction')} on ${path} went to storage with neither atomic write, journal nor sync: a crash or a closed tab leaves a corrupt database`,
      evidence: evidenceOf(ctx, commits).result(ctx),
      ...noSaving('a risk, not a cost'),
      confidence: 'certain',
      reason:
        'the VFS announces SQLITE_IOCAP_BATCH_ATOMIC, no BEGIN_ATOMIC_WRITE, xSync or journal write was called in these transactions',
      advice:
        'Set PRAGMA synchronous=normal: it costs little on a batch-atomic VFS and brings the atomic write back.',
      link: 'https://www.sqlite.org/pragma.html#pragma_synchronous',
      tryInLab: 'journal-modes',
    }));
  },
};
