/**
 * What each write transaction called, from its first lock to its last unlock, as counts by operation: the measure of what a commit
 * costs, whichever journal it uses. Columns, one row a transaction that committed.
 */
import { AUX_WAL_HEADER, Flag, Op } from '../../event.ts';
import type { ThreadStore } from '../../store.ts';
import { captureOptionsOf } from '../../capture.ts';
import type { Transaction } from '../transactions.ts';
import { transactions, type FindingContext } from './context.ts';

export interface CommitCost {
  transaction: Transaction;
  /** Calls: of all its files, */
  syncs: number;
  locks: number;
  unlocks: number;
  accesses: number;
  /** of its journal, */
  journalSyncs: number;
  journalOpens: number;
  journalCloses: number;
  journalDeletes: number;
  journalTruncates: number;
  journalReads: number;
  journalWrites: number;
  /** of the database and the log, */
  dbReads: number;
  dbWrites: number;
  walWrites: number;
  atomicBegins: number;
  /** and of the storage beneath. */
  webWrites: number;
  /** First and last row. */
  fromRow: number;
  toRow: number;
  /** Bytes of its writes, and the sum of its VFS calls' durations. */
  bytes: number;
  us: number;
  /** Pages written, to database or log, by number from 1 (database: by place in the file). */
  pages: number[];
}

const BEGIN_ATOMIC_WRITE = 31;
/** Longest list of pages that is kept: who writes more is no small commit. */
const MANY_PAGES = 64;
const SMALLEST_PAGE = 512;

/** Thread, connection and file of a transaction as one number. */
export const connectionKey = ({ thread, context, object }: Transaction): number => thread * 2 ** 44 + context * 2 ** 22 + object;

/** Committed write transactions, thread by thread, each in order of time. */
export function commitCosts(ctx: FindingContext): CommitCost[] {
  const found: CommitCost[] = [];
  /** By thread, file and connection: the row after the last transaction's end. */
  const ended = new Map<number, number>();
  for (const t of ctx.of(transactions).list) {
    if (t.kind === 'read') continue;
    const key = connectionKey(t);
    const after = ended.get(key) ?? 0;
    const from = Math.max(after, t.lockRow >= 0 ? Math.min(t.lockRow, t.beginRow) : t.beginRow);
    const cost = costOf(ctx, t, from);
    ended.set(key, cost.toRow + 1);
    if (t.outcome === 'committed') found.push(cost);
  }
  return found;
}

/** A class, not a literal put together: there is one for each of tens of thousands of transactions. */
class Cost implements CommitCost {
  syncs = 0;
  locks = 0;
  unlocks = 0;
  accesses = 0;
  journalSyncs = 0;
  journalOpens = 0;
  journalCloses = 0;
  journalDeletes = 0;
  journalTruncates = 0;
  journalReads = 0;
  journalWrites = 0;
  dbReads = 0;
  dbWrites = 0;
  walWrites = 0;
  atomicBegins = 0;
  webWrites = 0;
  toRow: number;
  bytes = 0;
  us = 0;
  pages: number[] = [];
  constructor(
    readonly transaction: Transaction,
    readonly fromRow: number,
  ) {
    this.toRow = transaction.endRow;
  }
}

function costOf(ctx: FindingContext, t: Transaction, from: number): CommitCost {
  const thread = ctx.store.threads[t.thread]!;
  const { events } = thread;
  const cost = new Cost(t, from);
  for (let row = from; row < events.count; row++) {
    const op = events.op[row]!;
    if (row > t.endRow) {
      // the unlocks that follow at once
      if (op === Op.xUnlock && events.object[row] === t.object && events.context[row] === t.context) cost.toRow = row;
      else if (op < 64 && op !== Op.xDeviceCharacteristics && op !== Op.xFileControl) break;
      else if (op >= Op.sqlOpen && op !== Op.sqlCounters) break;
    }
    if (op >= 64) {
      if (op === Op.idbPut || op === Op.idbAdd || op === Op.opfsWrite || op === Op.opfsStreamWrite || op === Op.localStorageSet)
        cost.webWrites++;
      continue;
    }
    if (events.context[row] !== t.context || op === 0 || events.flags[row]! & Flag.memoryJournal) continue;
    const file = ctx.file(thread, events.object[row]!);
    if (file?.main !== t.path) continue;
    const { kind } = file;
    cost.us += events.dur[row]!;
    switch (op) {
      case Op.xSync:
        cost.syncs++;
        if (kind === 'journal') cost.journalSyncs++;
        break;
      case Op.xLock:
        cost.locks++;
        break;
      case Op.xUnlock:
        cost.unlocks++;
        break;
      case Op.xAccess:
        cost.accesses++;
        break;
      case Op.xOpen:
        if (kind === 'journal') cost.journalOpens++;
        break;
      case Op.xClose:
        if (kind === 'journal') cost.journalCloses++;
        break;
      case Op.xDelete:
        if (kind === 'journal') cost.journalDeletes++;
        break;
      case Op.xTruncate:
        if (kind === 'journal') cost.journalTruncates++;
        break;
      case Op.xFileControl:
        if (events.aux[row] === BEGIN_ATOMIC_WRITE) cost.atomicBegins++;
        break;
      case Op.xRead:
        if (kind === 'main-db') cost.dbReads++;
        else if (kind === 'journal') cost.journalReads++;
        break;
      case Op.xWrite: {
        const length = events.length[row]!;
        cost.bytes += length;
        let page = 0;
        if (kind === 'main-db') {
          cost.dbWrites++;
          if (length >= SMALLEST_PAGE) page = Math.floor(events.offset[row]! / length) + 1;
        } else if (kind === 'journal') cost.journalWrites++;
        else if (kind === 'wal') {
          cost.walWrites++;
          if (events.aux[row] !== AUX_WAL_HEADER) page = events.aux[row]!;
        }
        if (page > 0 && cost.pages.length < MANY_PAGES && !cost.pages.includes(page)) cost.pages.push(page);
        break;
      }
    }
  }
  return cost;
}

const STORES: readonly number[] = [Op.idbPut, Op.idbAdd, Op.idbCursorUpdate, Op.opfsWrite, Op.opfsStreamWrite, Op.localStorageSet];

/**
 * No storage of the browser was written, on any thread, from the first to the last of these commits: the database lives in memory, where
 * a commit costs next to nothing. Never said where a thread's storage calls were not recorded from its beginning.
 */
export function nothingStored(ctx: FindingContext, commits: readonly CommitCost[]): boolean {
  const { threads } = ctx.store;
  const seesStorage = ({ environment, notes }: ThreadStore): boolean =>
    environment !== null && notes.length === 0 && captureOptionsOf(environment.capture).layers.includes('web');
  if (!threads.every(seesStorage)) return false;
  const begin = (c: CommitCost): number => threads[c.transaction.thread]!.events.t0[c.fromRow]!;
  const fromUs = commits.reduce((us, c) => Math.min(us, begin(c)), Infinity);
  const toUs = commits.reduce((us, c) => Math.max(us, c.transaction.endUs), -Infinity);
  return threads.every((thread) =>
    STORES.every((op) => {
      const rows = ctx.rows(thread, op);
      for (const row of rows) if (thread.events.t0[row]! >= fromUs && thread.events.t0[row]! <= toUs) return false;
      return true;
    }),
  );
}
