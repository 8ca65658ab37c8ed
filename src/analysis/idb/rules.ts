/**
 * Findings about transactions and requests of IndexedDB.
 *
 *   F10   [get] [get] [get put]  for one lock of SQLite: one transaction would be enough
 *   F15   strict, or sometimes strict and sometimes relaxed
 *   F17   a readwrite transaction that only reads
 *   F18   get 1, get 2, get 3, get 4: one getAll
 */
import { Op } from '../../event/event.ts';
import { READWRITE, VERSIONCHANGE } from '../../event/idb-modes.ts';
import { meanOf } from '../core/durations.ts';
import { getOrMake } from '../core/maps.ts';
import { lowerBound } from '../../trace/number-columns.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { bordersOf, lockWaitTimes, NO_WAITS, unblocked } from '../locks/lock-waits.ts';
import { locks } from '../locks/locks.ts';
import type { WaitEdge } from '../locks/wait-graph.ts';
import { idbTraffic, transactionsOfSqlite, type IdbTransaction } from './idb-use.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { measured, noSaving, Saving } from '../rules/saving.ts';
import type { Rule } from '../rules/types.ts';
import { countOf, formatCount, formatDuration } from '../../text/numbers.ts';

const FEW = 20;
const FEW_SAVED_GETS = 20;
const FEW_UNUSED = 10;
const SPEC = 'https://www.w3.org/TR/IndexedDB/';

const ofSqlite = (ctx: FindingContext): IdbTransaction[] =>
  transactionsOfSqlite(ctx.get(idbTraffic));

/**
 * Evidence of these transactions. It names the time that SQLite waits while one is running and no
 * other connection's lock blocks it, because SQLite computes in that time, too.
 */
function evidenceOf(ctx: FindingContext, list: readonly IdbTransaction[]): Evidence {
  const evidence = new Evidence();
  const waits = ctx.get(lockWaitTimes);
  for (const { thread, row, us } of list) {
    evidence.tally(thread, row);
    const fromUs = thread.events.t0[row]!;
    const spans = unblocked((waits.get(thread) ?? NO_WAITS).blocked, fromUs, fromUs + us);
    for (let i = 0; i < spans.length; i += 2) evidence.awaited(thread, spans[i]!, spans[i + 1]!);
  }
  return evidence;
}

const endedReadwrite = (ctx: FindingContext): IdbTransaction[] =>
  ofSqlite(ctx).filter((t) => t.mode === READWRITE && t.ended);

export const transactionPerBlock: Rule = {
  id: 'F10',
  title: 'IndexedDB transaction per block or operation',
  run(ctx) {
    const all = ctx.get(idbTraffic)?.use;
    if (!all?.lockPeriods || all.transactionsPerPeriod! <= 2) return [];
    const transactions = ofSqlite(ctx);
    const single = transactions.filter((t) => t.requests === 1 && t.mode !== VERSIONCHANGE);
    if (single.length < FEW || single.length < transactions.length / 2) return [];
    const evidence = evidenceOf(ctx, single);
    const avoided = Math.min(single.length, all.transactionsInPeriods! - all.lockPeriods);
    const beside = meanOf(
      single.filter((t) => t.ended).map((t) => Math.max(0, t.us - t.longestRequestUs)),
    );
    return {
      title: `${countOf(all.transactionsInPeriods!, 'IndexedDB transaction')} for ${countOf(all.lockPeriods, 'lock period')} of SQLite (from lock to unlock), ${formatCount(single.length)} of them with one request`,
      evidence: evidence.result(ctx),
      ...(Number.isNaN(beside)
        ? noSaving('no transaction was seen to complete')
        : measured(
            avoided * beside,
            `${formatCount(avoided)} transactions, each at the mean time that they took beside their request (${formatDuration(beside)})`,
          )),
      confidence: 'likely',
      reason:
        'locks and transactions were both recorded: what happens under one lock could be one transaction. The saving may be half of that, because each request still takes a round trip',
      advice:
        'If you wrote the VFS yourself, use one IndexedDB transaction from lock to unlock, and batch requests in it.',
      link: SPEC,
      tryInLab: 'idb-transactions',
    };
  },
};

/**
 * SQLite's mean wait for writing transactions: the part within its own xSync if there is one, or
 * all of it if no VFS of SQLite is visible. A relaxed transaction takes as long, but a VFS doesn't
 * wait for it.
 */
function meanWaitUs(ctx: FindingContext, list: readonly IdbTransaction[]): number {
  const syncs = new Map<ThreadStore, { rows: Uint32Array; from: Float64Array }>();
  let us = 0;
  for (const t of list) {
    const { t0, dur } = t.thread.events;
    const { rows, from } = getOrMake(syncs, t.thread, () => {
      const of = ctx.rows(t.thread, Op.xSync);
      return { rows: of, from: Float64Array.from(of, (row) => t0[row]!) };
    });
    const [begin, end] = [t0[t.row]!, t0[t.row]! + t.us];
    if (rows.length === 0) us += t.us;
    for (let i = Math.max(0, lowerBound(from, begin, from.length) - 1); i < rows.length; i++) {
      if (from[i]! >= end) break;
      us += Math.max(0, Math.min(end, from[i]! + dur[rows[i]!]!) - Math.max(begin, from[i]!));
    }
  }
  return us / list.length;
}

export const durabilityTier: Rule = {
  id: 'F15',
  title: 'Strict durability, or an unclear one',
  run(ctx) {
    const writers = endedReadwrite(ctx).filter((t) => t.writes > 0);
    const [, strict, relaxed] = [0, 1, 2].map((tier) =>
      writers.filter((t) => t.durability === tier),
    ) as [IdbTransaction[], IdbTransaction[], IdbTransaction[]];
    if (strict.length < FEW_UNUSED) return [];
    const mixed = relaxed.length > 0;
    const waited = meanWaitUs(ctx, strict);
    const waitedRelaxed = mixed ? meanWaitUs(ctx, relaxed) : NaN;
    return {
      title: `${formatCount(strict.length)} of ${countOf(writers.length, 'writing IndexedDB transaction')} asked for strict durability. SQLite waited ${formatDuration(waited)} for each on average${mixed ? `, and ${formatDuration(waitedRelaxed)} for each of the ${formatCount(relaxed.length)} relaxed ones` : ''}`,
      evidence: evidenceOf(ctx, strict).result(ctx),
      ...noSaving(
        mixed
          ? "the disk wasn't in the same state for both, so the difference of their waits isn't a saving"
          : 'no relaxed transaction in this recording to compare with',
      ),
      confidence: 'likely',
      reason: mixed
        ? 'both tiers were recorded with their times, which differ by what else the disk does'
        : 'the durability was recorded; what relaxed would cost here was not',
      advice:
        'If losing the last commits in a power cut is acceptable, set PRAGMA synchronous=normal. Keep strict durability for migrations.',
      sql: 'PRAGMA synchronous=NORMAL;',
      link: `${SPEC}#transaction-durability-hint`,
      tryInLab: 'idb-durability',
    };
  },
};

const keyOf = (thread: number, row: number): string => `${thread} ${row}`;

/**
 * How long threads waited, each moment of a thread once: two of its transactions may wait at the
 * same time.
 */
function waitedUs(waits: readonly WaitEdge[]): number {
  const byThread = new Map<number, WaitEdge[]>();
  for (const wait of waits) getOrMake(byThread, wait.waiter, () => []).push(wait);
  let us = 0;
  for (const own of byThread.values()) {
    const borders = bordersOf(own.map(({ fromUs, toUs }) => [fromUs, toUs]));
    const held = own.reduce((sum, { heldUs }) => sum + heldUs, 0);
    us += Math.min(held, borders.reduce((sum, ns, i) => sum + (i % 2 ? ns : -ns), 0) / 1000);
  }
  return us;
}

export const readersInReadwrite: Rule = {
  id: 'F17',
  title: 'Reader blocks writer through a readwrite transaction',
  run(ctx) {
    const all = endedReadwrite(ctx);
    const unused = all.filter((t) => t.writes === 0);
    if (unused.length < FEW_UNUSED) return [];
    const keysOf = (list: readonly IdbTransaction[]): Set<string> =>
      new Set(list.map(({ thread, row }) => keyOf(thread.index, row)));
    const [began, calls] = [keysOf(ofSqlite(ctx)), keysOf(unused)];
    const { edges, holds, waits: waiting, resources } = ctx.get(locks);
    const { threads } = ctx.store;
    const isUnused = (hold: number): boolean =>
      calls.has(keyOf(holds.thread[hold]!, holds.row[hold]!));
    const waits = edges.filter(
      ({ resource, firstHold, lastHold, waiter, wait }) =>
        resources[resource]!.kind === 'idb' &&
        isUnused(firstHold) &&
        isUnused(lastHold) &&
        began.has(keyOf(waiter, waiting.row[wait]!)),
    );
    const waited = waitedUs(waits);
    const evidence = new Evidence();
    for (const { thread, row } of unused) evidence.tally(thread, row);
    for (const { waiter, fromUs, toUs } of waits) evidence.awaited(threads[waiter]!, fromUs, toUs);
    return {
      title: `${formatCount(unused.length)} of ${countOf(all.length, 'readwrite IndexedDB transaction')} wrote nothing${waits.length ? `. The next one had to wait ${countOf(waits.length, 'time')}, ${formatDuration(waited)} in total` : ''}`,
      evidence: evidence.result(ctx),
      ...(waits.length
        ? measured(waited, `what ${countOf(waits.length, 'transaction')} waited for them`)
        : noSaving('no transaction waited for one of them')),
      confidence: 'likely',
      reason:
        'none of them called put, add, delete, or clear, and a readwrite transaction blocks other ones on its stores; what else a readonly one saves was not measured',
      advice:
        "Begin readonly transactions for reads. If your VFS can't, read several times in one transaction.",
      link: `${SPEC}#transaction-scheduling`,
      tryInLab: 'writers-and-readers',
    };
  },
};

export const sequentialGets: Rule = {
  id: 'F18',
  title: 'Sequential gets instead of a cursor',
  run(ctx) {
    const traffic = ctx.get(idbTraffic);
    if (!traffic || traffic.use.savedGets < FEW_SAVED_GETS) return [];
    const { sequences, savedGets: saved } = traffic.use;
    const evidence = new Evidence();
    for (const { thread, rows } of traffic.sequences)
      for (const row of rows) evidence.add(thread, row);
    return {
      title: `${countOf(evidence.count, 'get')} on neighboring keys, one by one in ${countOf(sequences, 'sequence')}: ${formatCount(sequences)} getAll calls would do`,
      evidence: evidence.result(ctx),
      ...new Saving(ctx).avoid(saved, Op.idbGet, 'gets', '', evidence.cost).result(),
      confidence: 'likely',
      reason:
        'in one transaction that asked nothing else between, one block apart each time; each get waits for the event loop. Much in Firefox, less in Chrome',
      advice:
        'If you wrote the VFS yourself, read ahead with getAll over a key range, or with a cursor.',
      link: `${SPEC}#dom-idbobjectstore-getall`,
      tryInLab: 'sql-over-storage',
    };
  },
};
