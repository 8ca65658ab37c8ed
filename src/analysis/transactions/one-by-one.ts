/**
 * Findings about work in many transactions for which one would be enough.
 *
 *   F01   write commit sync | write commit sync | write commit sync ...     one BEGIN .. COMMIT: one sync
 *   F02   lock 1, access, read 16@24, access, unlock | lock 1 ...           one read transaction: one of each
 */
import { Op } from '../../event/event.ts';
import { isVfsOp, opName } from '../../event/operations.ts';
import { bytesMoved } from '../../trace/bytes-moved.ts';
import { connectionKey } from '../../trace/lock-levels.ts';
import type { ThreadStore } from '../../trace/store.ts';
import type { TransactionTable } from './transaction-table.ts';
import { LISTED_PAGES, type CallCount } from './anatomy-table.ts';
import { called, callsOf, commitCalls, commitPlaces, nothingStored } from './commit-evidence.ts';
import { anatomies } from './transaction-anatomy.ts';
import { fingerprintsOf } from '../core/fingerprints.ts';
import { owners } from '../core/owners.ts';
import { PART, PART_OF_OP } from '../core/time-parts.ts';
import { quoted } from '../core/quoted.ts';
import { recordedTexts } from '../core/recorded-texts.ts';
import { Evidence, type Cost, type FindingContext } from '../rules/context.ts';
import { Saving } from '../rules/saving.ts';
import { ONE_TRANSACTION, type Found, type Rule } from '../rules/types.ts';
import { getOrMake, grouped } from '../core/maps.ts';
import { totalTimeInSql } from '../time/summary-time.ts';
import {
  countOf,
  formatBytes,
  formatCount,
  formatDuration,
  formatShare,
} from '../../text/numbers.ts';

/** Transactions further apart aren't a run. */
const GAP_US = 100_000;
const SHORTEST_RUN = 10;
/**
 * Pages of a small commit (a row in a table with two indexes, page 1), and what an occasional page
 * split may add.
 */
const FEW_PAGES = 4;
const MOST_PAGES = 8;
/** Share of the commits from which on one statement stands for all. */
const MOSTLY = 0.8;
/** Statements that the advice names otherwise, and the minimum share of each. */
const NAMED = 2;
const LEAST_NAMED = 0.1;

export const oneTransactionPerStatement: Rule = {
  id: 'F01',
  title: 'One transaction per statement',
  needs: { anatomies, commitPlaces, recordedTexts, totalTimeInSql },
  run(ctx) {
    const { pagesWritten, syncs, webWrites, transactions: list } = ctx.get(anatomies);
    const isRun = (run: readonly number[]): boolean =>
      run.length >= SHORTEST_RUN && !nothingStored(ctx, run);
    const stored = ctx.get(commitPlaces).filter((i) => syncs[i]! + webWrites[i]! > 0);
    const small = runsOf(
      list,
      stored.filter((i) => pagesWritten[i]! <= MOST_PAGES),
    ).filter((run) => areFew(pagesWritten, run) && isRun(run));
    // rows that go to a full-text index or many indexes, and batches of rows
    const inSmall = new Set(small.flat());
    const larger = runsOf(
      list,
      stored.filter((i) => !inSmall.has(i)),
    ).filter(isRun);
    const runs = [...small, ...larger];
    return [...grouped(runs, ([first]) => list.path(first!))].flatMap(([path, ofPath]) =>
      oneByOne(ctx, path, ofPath),
    );
  },
};

/** Whether most of these commits are small. */
const areFew = (pagesWritten: ArrayLike<number>, places: readonly number[]): boolean =>
  2 * places.filter((i) => pagesWritten[i]! <= FEW_PAGES).length > places.length;

const AVOIDED = [
  ...(['journalSyncs', 'dbWrites', 'journalWrites', 'walWrites', 'locks'] as const),
  ...(['unlocks', 'accesses', 'journalOpens', 'journalCloses', 'journalDeletes'] as const),
  ...(['journalTruncates'] as const),
];
/** Batches of which one commit would save less are large enough: of what they took. */
const WORTH = 0.1;
/** A page is journalled in three writes, beside the header, which is written twice. */
const JOURNAL_HEADER = 2;
const JOURNAL_PAGE = 3;
/**
 * Calls of one commit of this many pages, of which `added` are new and so aren't in a journal. A
 * frame takes two writes.
 */
const LEAST: Partial<Record<CallCount, (pages: number, added: number) => number>> = {
  dbWrites: (pages) => pages,
  journalWrites: (pages, added) => JOURNAL_HEADER + JOURNAL_PAGE * Math.max(0, pages - added),
  walWrites: (pages) => 2 * pages,
};

/**
 * Calls of several transactions that exceed those of the one with the most, or `least`.
 * @param calls by index
 */
function beyondOne(places: readonly number[], calls: ArrayLike<number>, least: number): number {
  let [total, most] = [0, least];
  for (let p = 0; p < places.length; p++) {
    const n = calls[places[p]!]!;
    total += n;
    if (n > most) most = n;
  }
  return Math.max(0, total - most);
}

/** The statements that began commits, by fingerprint. */
interface Writers {
  /** The most frequent first. */
  texts: { text: string; commits: number }[];
  commits: number;
  /** Rows of the statements' calls, by index of the commit; only of the most frequent text. */
  shown: ReadonlyMap<number, number>;
}

function writersOf(ctx: FindingContext, places: readonly number[]): Writers {
  const { transactions: list } = ctx.get(anatomies);
  const known = ctx.get(recordedTexts);
  const byText = new Map<string, Map<number, number>>();
  const printsOf = new Map<ThreadStore, ReturnType<typeof fingerprintsOf>>();
  for (const i of places) {
    const thread = ctx.store.threads[list.thread[i]!]!;
    const row = ctx.get(owners).of(thread).statement(list.beginRow[i]!);
    const printOf = getOrMake(printsOf, thread, () => fingerprintsOf(thread));
    const print = row < 0 ? null : printOf(thread.events.object[row]!);
    if (print) getOrMake(byText, print, () => new Map<number, number>()).set(i, row);
  }
  const all = [...byText].sort(([, a], [, b]) => b.size - a.size);
  return {
    texts: all.map(([print, rows]) => ({ text: known.get(print) ?? print, commits: rows.size })),
    commits: places.length,
    shown: all[0]?.[1] ?? new Map(),
  };
}

/** `the 200 runs of "INSERT ..."`; `these 300 writes (100 of "INSERT ...", 90 of "UPDATE ...")` */
function writersText({ texts, commits }: Writers): string {
  const [first] = texts;
  if (!first) return 'these statements';
  if (first.commits >= MOSTLY * commits)
    return `the ${formatCount(first.commits)} runs of ${quoted(first.text)}`;
  const named = texts
    .filter(({ commits: n }) => n >= LEAST_NAMED * commits)
    .slice(0, NAMED)
    .map(({ text, commits: n }) => `${formatCount(n)} of ${quoted(text)}`);
  if (!named.length) return `these ${formatCount(commits)} writes`;
  return `these ${formatCount(commits)} writes (${named.join(', ')}${texts.length > NAMED ? ', ...' : ''})`;
}

/** `, 60 of them by this statement`, where the advice names one statement and others committed, too */
const ofStatement = ({ texts: [first], commits }: Writers): string =>
  first && first.commits < commits && first.commits >= MOSTLY * commits
    ? `, ${formatCount(first.commits)} of them by this statement`
    : '';

function oneByOne(
  ctx: FindingContext,
  path: string,
  runs: readonly (readonly number[])[],
): Found[] {
  const all = ctx.get(anatomies);
  const places = runs.flat();
  // which pages one commit of all would write is known only of those whose pages are listed
  const listedOf = runs.map((run) => run.filter((i) => all.pagesWritten[i]! <= LISTED_PAGES));
  const pagesOf = listedOf.map((run) => all.distinctPages(run));
  /** Pages with which the database grew. */
  const addedOf = listedOf.map((run) =>
    run.reduce((added, i) => {
      const journalled = Math.floor((all.journalWrites[i]! - JOURNAL_HEADER) / JOURNAL_PAGE);
      return added + (journalled > 0 ? Math.max(0, all.pagesWritten[i]! - journalled) : 0);
    }, 0),
  );
  /** Calls of each run beyond those of its largest commit. */
  const rest = (calls: ArrayLike<number>, of = runs): number =>
    of.reduce((sum, run) => sum + beyondOne(run, calls, 0), 0);
  /**
   * Writes of pages beyond what one commit of all listed pages takes. Of commits with more pages,
   * only a journal's headers are avoided.
   */
  const writesBeyond = (
    calls: ArrayLike<number>,
    least: (pages: number, added: number) => number,
    headers: number,
  ): number =>
    listedOf.reduce((sum, listed, r) => {
      const others = runs[r]!.filter((i) => all.pagesWritten[i]! > LISTED_PAGES);
      const rewritten = listed.length ? others : others.slice(1);
      return (
        sum +
        beyondOne(listed, calls, least(pagesOf[r]!, addedOf[r]!)) +
        rewritten.reduce((n, i) => n + Math.min(headers, calls[i]!), 0)
      );
    }, 0);
  /** The same of the difference of two counts. */
  const without = (calls: Uint32Array, others: Uint32Array): Float64Array => {
    const left = new Float64Array(calls.length);
    for (const i of places) left[i] = Math.max(0, calls[i]! - others[i]!);
    return left;
  };
  const wal = callsOf(ctx, places, 'walWrites');
  const statements = writersOf(ctx, places);
  const { evidence, locks, waitedUs } = commitCalls(ctx, places, undefined, statements.shown);
  const saving = new Saving(ctx);
  for (const count of AVOIDED) {
    const least = LEAST[count];
    saving.avoid(
      least
        ? writesBeyond(all[count], least, count === 'journalWrites' ? JOURNAL_HEADER : 0)
        : rest(all[count]),
      ...called(count),
      count === 'locks' ? locks : undefined, // the mean includes waits for others
    );
    if (count !== 'journalSyncs') continue;
    // a page is read once in one or in many transactions; the checks of the change counter aren't
    saving.avoid(rest(without(all.dbReads, all.pagesRead)), ...called('dbReads'));
    // a sync that waits for IndexedDB waits for all pages of its commit
    const { idbCompleteUs } = all.commitTotals(places).time;
    const others = rest(without(all.syncs, all.journalSyncs), idbCompleteUs > 0 ? listedOf : runs);
    saving.avoid(others, Op.xSync, wal ? 'syncs' : 'database syncs', wal ? '' : 'main-db');
  }
  const found = evidence.result(ctx);
  const commits = places.length;
  const few = areFew(all.pagesWritten, places);
  const largest = places.reduce((n, i) => Math.max(n, all.pagesWritten[i]!), 0);
  const size = few ? 'a few' : `up to ${formatCount(largest)}`;
  const syncs = callsOf(ctx, places, 'syncs');
  const writes = callsOf(ctx, places, 'dbWrites') + callsOf(ctx, places, 'journalWrites') + wal;
  saving.atMost(evidence.us, (commits - runs.length) / commits);
  const saved = saving.result();
  const areBatches = largest > LISTED_PAGES;
  if (areBatches && (saved.savingUs ?? 0) < WORTH * evidence.us) return [];
  const areExplicit = 2 * places.filter((i) => all.isExplicit(i)).length > commits;
  // of the time that the action's bar shows
  const inSqlUs = ctx.get(totalTimeInSql);
  const share = inSqlUs
    ? `, ${formatShare(Math.min(1, evidence.us / inSqlUs))} of the time in SQL`
    : '';
  return [
    {
      title: `${formatCount(commits)} commits of ${size} pages each, one after another, on ${path}: ${countOf(syncs, 'sync')}, ${countOf(writes, 'write')}, ${formatBytes(evidence.bytes)}${share}`,
      evidence: found,
      ...saved,
      confidence:
        few && syncs >= commits && waitedUs === 0 && !saving.isEstimate ? 'certain' : 'likely',
      reason: `${
        syncs >= commits
          ? `${formatCount(commits)} commits${ofStatement(statements)}, each at most ${formatDuration(GAP_US)} after the one before, and each waits for its own syncs`
          : `the commits follow each other within ${formatDuration(GAP_US)}; not every one of them syncs`
      }${waitedUs > 0 ? `; ${formatDuration(waitedUs)} of waiting for locks that others held is not counted, and other connections change what a longer transaction costs` : ''}${few ? '' : areBatches ? '; pages that several large commits write are not counted' : '; a full-text index writes other pages in one transaction'}`,
      advice: areExplicit
        ? `Commit several of these transactions as one${runs.length > 1 ? ` (they run in ${formatCount(runs.length)} groups)` : ''}.`
        : `Put ${writersText(statements)} in one transaction${runs.length > 1 ? ` per batch (${formatCount(runs.length)} batches)` : ''}.`,
      why: `${areExplicit ? '' : 'Outside a transaction, SQLite commits after every statement. '}Each commit ${syncs >= commits ? 'waits for its own syncs' : 'writes its pages again'}.`,
      sql: ONE_TRANSACTION,
      link: 'https://www.sqlite.org/faq.html#q19',
      tryInLab: 'autocommit-1000',
    },
  ];
}

export const autocommitReads: Rule = {
  id: 'F02',
  title: 'Autocommit reads',
  needs: { anatomies },
  run(ctx) {
    const { pagesRead, walReads, transactions: list } = ctx.get(anatomies);
    const keep = (i: number): boolean => !list.isWrite(i) && pagesRead[i]! + walReads[i]! === 0;
    const places = Array.from({ length: list.length }, (_, i) => i);
    const runs = runsOf(list, places, keep).filter((run) => run.length >= SHORTEST_RUN);
    return [...grouped(runs, ([first]) => list.path(first!))].map(([path, ofPath]) =>
      pollReads(ctx, path, list, ofPath),
    );
  },
};

/** Lock, check whether the database has changed, unlock: all pages came from SQLite's cache. */
function pollReads(
  ctx: FindingContext,
  path: string,
  list: TransactionTable,
  runs: readonly (readonly number[])[],
): Found {
  const evidence = new Evidence();
  /**
   * By operation: cost of the calls, and how many all transactions except the first of each run
   * made.
   */
  const byOp = new Map<number, Cost & { avoided: number }>();
  let calls = 0;
  let lockCalls = 0;
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
        if (PART_OF_OP[op] === PART.lock) lockCalls++;
        evidence.us += events.dur[row]!;
        evidence.call(thread, row);
        if (op === Op.xRead) evidence.bytes += bytesMoved(events, row);
        const sum = getOrMake(byOp, op, () => ({ calls: 0, us: 0, avoided: 0 }));
        sum.calls++;
        sum.us += events.dur[row]!;
        if (i > 0) sum.avoided++;
      }
    });
  const saving = new Saving(ctx);
  for (const [op, cost] of byOp)
    saving.avoid(cost.avoided, op, opName(op), op === Op.xRead ? 'main-db' : '', cost);
  return {
    title: `${formatCount(evidence.count)} read transactions on ${path} found all pages in the page cache, but made ${countOf(calls, 'VFS call')}: ${formatCount(lockCalls)} to lock and unlock, ${formatCount(calls - lockCalls)} to look for changes`,
    evidence: evidence.result(ctx),
    ...saving.result(),
    confidence: 'certain',
    reason: `each took SHARED, read nothing but the change counter, and unlocked; the next came within ${formatDuration(GAP_US)}`,
    advice:
      'Wrap consecutive SELECTs in BEGIN ... COMMIT. If only one tab or worker opens the database, you can set locking_mode=exclusive instead.',
    why: 'Outside a transaction, SQLite takes a lock, looks for changes by others, and unlocks for every SELECT.',
    sql: ONE_TRANSACTION,
    link: 'https://www.sqlite.org/lang_transaction.html',
    tryInLab: 'polling',
  };
}

/**
 * Runs of neighbors on one connection and file, less than GAP_US apart, for which `keep` is true.
 * @param places in the list, by thread
 */
function runsOf(
  { thread, context, object, beginUs, endUs }: TransactionTable,
  places: readonly number[],
  keep: (place: number) => boolean = () => true,
): number[][] {
  const runs: number[][] = [];
  const open = new Map<number, number[]>();
  let last = -1;
  for (const i of places) {
    if (thread[i] !== last) open.clear();
    last = thread[i]!;
    const key = connectionKey(object[i]!, context[i]!);
    if (!keep(i)) {
      open.delete(key);
      continue;
    }
    const run = open.get(key);
    if (run && beginUs[i]! - endUs[run.at(-1)!]! <= GAP_US) run.push(i);
    else {
      const next = [i];
      open.set(key, next);
      runs.push(next);
    }
  }
  return runs;
}
