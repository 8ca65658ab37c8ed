/**
 * Finding about storage that failed for good: IndexedDB refused a write of a VFS that stores
 * asynchronously, nothing was stored since, and SQLite keeps committing. The changes of those
 * commits are lost when the tab closes.
 *
 *   idb.transaction readwrite   ok   ok   ABORTED
 *   commits                      c    c     c      c  c  c  c     the last ones are not stored
 */
import { grouped } from '../core/maps.ts';
import { Flag, Op } from '../../event/event.ts';
import { codesOf } from '../../event/operations.ts';
import { bytesMoved } from '../../trace/bytes-moved.ts';
import { idbMode, READWRITE } from '../../event/idb-modes.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { originOfThread } from '../core/thread-origin.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { noSaving } from '../rules/saving.ts';
import type { Found, Rule } from '../rules/types.ts';
import { transactions } from '../transactions/transactions.ts';
import { countOf } from '../../text/numbers.ts';

/** Requests that change a store. */
const WRITES = codesOf(({ request }) => request === 'changes');
/** Fewer commits may still be stored: a VFS that stores asynchronously waits a moment. */
const FEW_COMMITS = 3;

/** Of one origin. */
interface Stores {
  /** End of the last thing stored, microseconds. */
  storedUs: number;
  /** Transactions that failed, by their end. */
  failed: { thread: ThreadStore; row: number; endUs: number }[];
  /** A write is still running when the recording ends. */
  underWay: boolean;
}

export const storageGivenUp: Rule = {
  id: 'F46',
  title: 'Nothing stored after a failed write',
  run(ctx) {
    const byOrigin = grouped(ctx.store.threads, originOfThread);
    return [...byOrigin.values()].flatMap((threads) => givenUp(ctx, threads));
  },
};

function givenUp(ctx: FindingContext, threads: readonly ThreadStore[]): Found | [] {
  const { storedUs, failed, underWay } = storesOf(ctx, threads);
  const since = failed.filter(({ endUs }) => endUs > storedUs);
  if (since.length === 0 || underWay) return [];
  const fromUs = since.reduce((least, { endUs }) => Math.min(least, endUs), Infinity);
  const here = new Set(threads.map(({ index }) => index));
  const { list } = ctx.get(transactions);
  let commits = 0;
  for (let i = 0; i < list.length; i++)
    if (list.endUs[i]! > fromUs && here.has(list.thread[i]!) && list.outcome(i) === 'committed')
      commits++;
  if (commits < FEW_COMMITS) return [];
  const evidence = new Evidence();
  for (const { thread, row } of since) evidence.add(thread, row);
  return {
    title: `IndexedDB failed ${countOf(since.length, 'write transaction')}, nothing was stored after, and SQLite committed ${countOf(commits, 'more transaction')}: a reload loses them`,
    evidence: evidence.result(ctx),
    ...noSaving('this is about lost data, not time'),
    confidence: 'likely',
    reason:
      "no write of the origin reached IndexedDB, OPFS or localStorage since; whether the failed one was the database's isn't known",
    advice:
      'Stop writing and tell the user as soon as a delayed write fails, or write within the VFS call, so that SQLite sees the error.',
    link: 'https://w3c.github.io/IndexedDB/#transaction-lifecycle',
  };
}

function storesOf(ctx: FindingContext, threads: readonly ThreadStore[]): Stores {
  const stores: Stores = { storedUs: -Infinity, failed: [], underWay: false };
  for (const thread of threads) {
    const { t0, dur, aux, endSeq, result, flags, context } = thread.events;
    const end = (row: number): number => t0[row]! + dur[row]!;
    // by the app itself
    const aborted = new Set(Array.from(ctx.rows(thread, Op.idbAbort), (row) => context[row]!));
    // absurd-sql begins a transaction, and puts nothing into it where it gives up
    const writing = new Set<number>();
    for (const op of WRITES) for (const row of ctx.rows(thread, op)) writing.add(context[row]!);
    for (const row of ctx.rows(thread, Op.idbTransaction)) {
      if (idbMode(aux[row]!) !== READWRITE || aborted.has(context[row]!)) continue;
      if (endSeq[row] === 0) stores.underWay = true;
      else if (result[row] !== 0) stores.failed.push({ thread, row, endUs: end(row) });
      else if (writing.has(context[row]!)) stores.storedUs = Math.max(stores.storedUs, end(row));
    }
    for (const op of [Op.opfsWrite, Op.opfsStreamClose, Op.localStorageSet])
      for (const row of ctx.rows(thread, op))
        if (op === Op.opfsWrite ? bytesMoved(thread.events, row) > 0 : !(flags[row]! & Flag.threw))
          stores.storedUs = Math.max(stores.storedUs, endSeq[row] === 0 ? Infinity : end(row));
  }
  return stores;
}
