/**
 * Work that is done one transaction at a time where one transaction would do.
 *
 *   F01   write commit sync | write commit sync | write commit sync ...     one BEGIN .. COMMIT: one sync
 *   F02   lock 1, access, read 16@24, access, unlock | lock 1 ...           one read transaction: one of each
 */
import { Op } from '../../event/event.ts';
import { isVfsOp, opName } from '../../event/operations.ts';
import type { TransactionTable } from './transaction-table.ts';
import { commitCosts, connectionKey, nothingStored, type CommitCost } from './commit-costs.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { Saving } from '../rules/saving.ts';
import type { Found, Rule } from '../rules/types.ts';
import { countOf, formatBytes, formatCount, formatShare } from '../../text/numbers.ts';

/** Transactions further apart are no run. */
const GAP_US = 100_000;
const SHORTEST_RUN = 10;
/** Pages of a small commit (a row in a table with two indexes, page 1), and what a page split may add now and then. */
const FEW_PAGES = 4;
const MOST_PAGES = 8;

export const oneTransactionPerStatement: Rule = {
  id: 'F01',
  title: 'One transaction per statement',
  run(ctx) {
    const small = ctx
      .get(commitCosts)
      .filter(
        (c) => c.pageCount <= MOST_PAGES && (c.calls('syncs') > 0 || c.calls('webWrites') > 0),
      );
    const { list } = ctx.transactions;
    const runs = runsOf(list, small, (c) => c.place).filter(
      (run) =>
        run.length >= SHORTEST_RUN &&
        2 * run.filter((c) => c.pageCount <= FEW_PAGES).length > run.length &&
        !nothingStored(ctx, run),
    );
    return [...byPath(runs, (c) => list.path(c.place))].map(([path, ofPath]) =>
      oneByOne(ctx, path, ofPath),
    );
  },
};

const SINGLE = [
  'syncs',
  'locks',
  'unlocks',
  'accesses',
  'journalOpens',
  'journalCloses',
  'journalDeletes',
  'journalTruncates',
] as const;

function oneByOne(
  ctx: FindingContext,
  path: string,
  runs: readonly (readonly CommitCost[])[],
): Found {
  const evidence = new Evidence();
  const sums = { syncs: 0, writes: 0 };
  const avoid = {
    journalSyncs: 0,
    dbSyncs: 0,
    dbWrites: 0,
    journalWrites: 0,
    walWrites: 0,
    dbReads: 0,
  } as Record<string, number>;
  for (const name of SINGLE) avoid[name] = 0;
  for (const run of runs) {
    const pages = new Set(run.flatMap((c) => c.pages)).size;
    const rest = (of: (c: CommitCost) => number, least = 0): number => {
      let total = 0;
      let most = least;
      for (const c of run) {
        const n = of(c);
        total += n;
        if (n > most) most = n;
      }
      return Math.max(0, total - most);
    };
    for (const name of SINGLE) avoid[name]! += rest((c) => c.calls(name));
    avoid.journalSyncs! += rest((c) => c.calls('journalSyncs'));
    avoid.dbSyncs! += rest((c) => c.calls('syncs') - c.calls('journalSyncs'));
    avoid.dbWrites! += rest((c) => c.calls('dbWrites'), pages);
    avoid.dbReads! += rest((c) => c.calls('dbReads'), pages);
    // a page is journalled in three writes, a frame written in two
    avoid.journalWrites! += rest((c) => c.calls('journalWrites'), 2 + 3 * pages);
    avoid.walWrites! += rest((c) => c.calls('walWrites'), 2 * pages);
    for (const c of run) {
      const { thread, commitRow, beginRow, endRow } = c.transaction;
      const { events } = ctx.store.threads[thread]!;
      evidence.count++;
      evidence.bytes += c.bytes;
      evidence.us += c.us;
      evidence.show(thread, commitRow >= 0 ? commitRow : beginRow);
      evidence.span(events.t0[c.fromRow]!, events.t0[endRow]! + events.dur[endRow]!);
      sums.syncs += c.calls('syncs');
      sums.writes += c.calls('dbWrites') + c.calls('journalWrites') + c.calls('walWrites');
    }
  }
  const wal = runs.some((run) => run.some((c) => c.calls('walWrites') > 0));
  const saving = new Saving(ctx)
    .avoid(avoid.journalSyncs!, Op.xSync, 'journal syncs', 'journal')
    .avoid(avoid.dbSyncs!, Op.xSync, wal ? 'syncs' : 'database syncs', wal ? '' : 'main-db')
    .avoid(avoid.dbWrites!, Op.xWrite, 'database writes', 'main-db')
    .avoid(avoid.journalWrites!, Op.xWrite, 'journal writes', 'journal')
    .avoid(avoid.walWrites!, Op.xWrite, 'WAL writes', 'wal')
    .avoid(avoid.dbReads!, Op.xRead, 'database reads', 'main-db')
    .avoid(avoid.locks!, Op.xLock, 'locks')
    .avoid(avoid.unlocks!, Op.xUnlock, 'unlocks')
    .avoid(avoid.accesses!, Op.xAccess, 'xAccess')
    .avoid(avoid.journalOpens!, Op.xOpen, 'journal opens', 'journal')
    .avoid(avoid.journalCloses!, Op.xClose, 'journal closes', 'journal')
    .avoid(avoid.journalDeletes!, Op.xDelete, 'journal deletes', 'journal')
    .avoid(avoid.journalTruncates!, Op.xTruncate, 'journal truncates', 'journal');
  const found = evidence.result(ctx);
  const commits = evidence.count;
  const share = found.timeShare === null ? '' : `, ${formatShare(found.timeShare)} of the time`;
  return {
    title: `${formatCount(commits)} commits of a few pages each, one after another, on ${path}: ${countOf(sums.syncs, 'sync')}, ${countOf(sums.writes, 'write')}, ${formatBytes(evidence.bytes)}${share}`,
    evidence: found,
    ...saving.result(),
    confidence: sums.syncs >= commits ? 'certain' : 'likely',
    reason:
      sums.syncs >= commits
        ? `every one of the ${formatCount(commits)} commits waits for its own sync, less than 100 ms after the one before`
        : 'the commits follow each other within 100 ms; not every one of them syncs',
    advice: `Wrap the statements in one BEGIN .. COMMIT${runs.length > 1 ? ` (${formatCount(runs.length)} batches were seen)` : ''}; every commit ${sums.syncs >= commits ? 'pays for its own sync' : 'writes its pages anew'}.`,
    link: 'https://www.sqlite.org/faq.html#q19',
    tryInLab: 'autocommit-1000',
  };
}

export const autocommitReads: Rule = {
  id: 'F02',
  title: 'Autocommit reads',
  run(ctx) {
    const { list } = ctx.transactions;
    const places = Uint32Array.from({ length: list.length }, (_, i) => i);
    const keep = (i: number): boolean => !list.isWrite(i) && readsNoPage(ctx, list, i);
    const runs = runsOf(list, places, (i) => i, keep).filter((run) => run.length >= SHORTEST_RUN);
    return [...byPath(runs, (i) => list.path(i))].map(([path, ofPath]) =>
      pollReads(ctx, path, list, ofPath),
    );
  },
};

/** Lock, look whether the database has changed, unlock: all pages came from SQLite's cache. */
function readsNoPage(
  ctx: FindingContext,
  { thread, beginRow, endRow, context }: TransactionTable,
  i: number,
): boolean {
  const { events } = ctx.store.threads[thread[i]!]!;
  for (let row = beginRow[i]!; row <= endRow[i]!; row++)
    if (
      events.op[row] === Op.xRead &&
      events.context[row] === context[i] &&
      events.length[row]! >= 512
    )
      return false;
  return true;
}

function pollReads(
  ctx: FindingContext,
  path: string,
  list: TransactionTable,
  runs: readonly (readonly number[])[],
): Found {
  const evidence = new Evidence();
  /** Calls of all transactions but the first of each run, by operation. */
  const avoid = new Map<number, number>();
  let calls = 0;
  for (const run of runs)
    run.forEach((place, i) => {
      const t = list.at(place);
      const thread = ctx.store.threads[t.thread]!;
      const { events } = thread;
      evidence.count++;
      evidence.show(t.thread, t.beginRow);
      evidence.span(t.beginUs, t.endUs);
      for (let row = t.beginRow; row <= t.endRow; row++) {
        const op = events.op[row]!;
        if (!isVfsOp(op) || events.context[row] !== t.context) continue;
        calls++;
        evidence.us += events.dur[row]!;
        if (op === Op.xRead) evidence.bytes += events.length[row]!;
        if (i > 0) avoid.set(op, (avoid.get(op) ?? 0) + 1);
      }
    });
  const saving = new Saving(ctx);
  for (const [op, n] of avoid) saving.avoid(n, op, opName(op), op === Op.xRead ? 'main-db' : '');
  return {
    title: `${formatCount(evidence.count)} read transactions on ${path} read no page at all, yet made ${countOf(calls, 'VFS call')} to lock, look for changes and unlock`,
    evidence: evidence.result(ctx),
    ...saving.result(),
    confidence: 'certain',
    reason:
      'each took SHARED, read the change counter at most, and unlocked; the next came within 100 ms',
    advice:
      'Wrap the SELECTs that belong to one refresh in one BEGIN .. COMMIT, or set locking_mode=exclusive where one connection is all there is.',
    link: 'https://www.sqlite.org/lang_transaction.html',
    tryInLab: 'polling',
  };
}

/** Runs of neighbours on one connection and file, less than GAP_US between, all of which `keep`. @param placeOf an item's transaction in the list */
function runsOf<T>(
  list: TransactionTable,
  items: ArrayLike<T>,
  placeOf: (item: T) => number,
  keep: (item: T) => boolean = () => true,
): T[][] {
  const runs: T[][] = [];
  const open = new Map<number, T[]>();
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!;
    const place = placeOf(item);
    const key = connectionKey(list, place);
    if (!keep(item)) {
      open.delete(key);
      continue;
    }
    let run = open.get(key);
    if (!run || list.beginUs[place]! - list.endUs[placeOf(run.at(-1)!)]! > GAP_US) {
      open.set(key, (run = []));
      runs.push(run);
    }
    run.push(item);
  }
  return runs;
}

function byPath<T>(runs: readonly T[][], pathOf: (item: T) => string): Map<string, T[][]> {
  const found = new Map<string, T[][]>();
  for (const run of runs) {
    const path = pathOf(run[0]!);
    const list = found.get(path);
    if (list) list.push(run);
    else found.set(path, [run]);
  }
  return found;
}
