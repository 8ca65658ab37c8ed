/**
 * How a VFS uses IndexedDB: transactions in each of SQLite's lock periods, requests in each
 * transaction, gets in sequence.
 *
 *   SQLite lock    |----- SHARED ------|      |-- RESERVED .. NONE --|        2 lock periods
 *   transactions     [get][get][get]            [get put][put][put]           6 transactions, 5 of one request: 1 would do for each
 *
 * idb-sequences.ts defines gets in sequence.
 */
import { hasVfs } from '../core/layers.ts';
import { Flag, Op } from '../../event/event.ts';
import { idbDurability, idbMode, READWRITE } from '../../event/idb-modes.ts';
import { IDB_REQUEST, isVfsOp, opTable } from '../../event/operations.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { appDatabases } from '../core/app-databases.ts';
import { fact, type Known } from '../core/graph.ts';
import { servedThreads } from '../core/helper-threads.ts';
import { rowsByOperation, type RowsByOperation } from '../core/rows-by-operation.ts';
import { GetSequences } from './idb-sequences.ts';
import { RUN_CLASSES, runClass } from '../files/runs.ts';
import { LockLevels, SETS_LEVEL } from '../../trace/lock-levels.ts';

export interface IdbUse {
  transactions: number;
  readwrite: number;
  requests: number;
  /** Transactions without a request, and with one. */
  empty: number;
  oneRequest: number;
  /** readwrite, but nothing was put, deleted, or cleared: they read, but make writers wait. */
  readwriteUnused: number;
  /** Transactions with requests by their number: RUN_CLASSES. */
  histogram: number[];
  /** Requests of transactions begun before the recording. */
  looseRequests: number;
  /** How often a database lock was taken and released; null if VFS calls weren't recorded. */
  lockPeriods: number | null;
  /** SQLite's transactions that began while a lock was held, taken, or released. */
  transactionsInPeriods: number | null;
  /** null without lock periods. */
  transactionsPerPeriod: number | null;
  /**
   * Gets in sequence: sequences, their gets, gets that one request each would save, and their time.
   */
  sequences: number;
  sequentialGets: number;
  savedGets: number;
  sequentialUs: number;
}

/** A transaction with its requests. A call that threw didn't make one. */
export interface IdbTransaction {
  thread: ThreadStore;
  row: number;
  /**
   * On a database of the app itself, while SQLite's files are in others, so a VFS didn't begin it.
   */
  isApps: boolean;
  /** 0 readonly, 1 readwrite, 2 versionchange */
  mode: number;
  /** 0 default, 1 strict, 2 relaxed */
  durability: number;
  /** From the call to the recorded end, microseconds. */
  us: number;
  /** complete or abort was recorded. */
  ended: boolean;
  requests: number;
  writes: number;
  /**
   * A request of it was running for at least this time, that of its longest request, microseconds.
   */
  longestRequestUs: number;
}

/** What the threads that use IndexedDB requested. */
export interface IdbTraffic {
  use: IdbUse;
  /** In order of creation on each thread. */
  transactions: IdbTransaction[];
  /** Gets in sequence: their rows. */
  sequences: { thread: ThreadStore; rows: readonly number[] }[];
}

const NONE: ReadonlySet<number> = new Set();
const NEEDS = { appDatabases, servedThreads, rowsByOperation };
/** Examined operations: IndexedDB's transactions and requests, and SQLite's locks. */
const OF_IDB = opTable(({ code }) => code === Op.idbTransaction || IDB_REQUEST[code] !== 0);
const MATTERS = opTable(({ code }) => OF_IDB[code] !== 0 || SETS_LEVEL[code] !== 0);

/** null if no thread uses IndexedDB. */
export const idbTraffic = fact('idbTraffic', 'how files are used', NEEDS, idbTrafficOf);
export const idbUse = fact(
  'idbUse',
  'how files are used',
  { idbTraffic },
  (_, { idbTraffic }) => idbTraffic?.use ?? null,
);

/** Those begun by a VFS. The app's own can't complete while SQLite blocks the thread. */
export const transactionsOfSqlite = (traffic: IdbTraffic | null): IdbTransaction[] =>
  traffic?.transactions.filter(({ isApps }) => !isApps) ?? [];

function idbTrafficOf(
  store: TraceStore,
  { appDatabases, servedThreads, rowsByOperation: rows }: Known<typeof NEEDS>,
): IdbTraffic | null {
  const use: IdbUse = {
    transactions: 0,
    readwrite: 0,
    requests: 0,
    empty: 0,
    oneRequest: 0,
    readwriteUnused: 0,
    histogram: RUN_CLASSES.map(() => 0),
    looseRequests: 0,
    lockPeriods: null,
    transactionsInPeriods: null,
    transactionsPerPeriod: null,
    sequences: 0,
    sequentialGets: 0,
    savedGets: 0,
    sequentialUs: 0,
  };
  const found: IdbTraffic = { use, transactions: [], sequences: [] };
  const vfsIsSeen = store.threads.some(hasVfs);
  let seen = false;
  for (const thread of store.threads) {
    const isServing = servedThreads[thread.index] !== null;
    const own = vfsIsSeen && !isServing ? appDatabases.of(thread) : NONE;
    seen = scan(thread, rows.of(thread), own, found) || seen;
  }
  if (!seen) return null;
  for (const { mode, requests, writes } of found.transactions) {
    use.transactions++;
    if (mode === READWRITE) use.readwrite++;
    if (requests === 0) use.empty++;
    else use.histogram[runClass(requests)]!++;
    if (requests === 1) use.oneRequest++;
    if (mode === READWRITE && requests > 0 && writes === 0) use.readwriteUnused++;
  }
  for (const { thread, rows } of found.sequences) {
    use.sequences++;
    use.sequentialGets += rows.length;
    use.savedGets += rows.length - 1;
    for (const row of rows) use.sequentialUs += thread.events.dur[row]!;
  }
  if (use.lockPeriods) use.transactionsPerPeriod = use.transactionsInPeriods! / use.lockPeriods;
  return found;
}

/** @param own the app's databases and stores @returns whether the thread uses IndexedDB */
function scan(
  thread: ThreadStore,
  rows: RowsByOperation,
  own: ReadonlySet<number>,
  { use, transactions, sequences }: IdbTraffic,
): boolean {
  if (!rows.together(OF_IDB).length) return false;
  const { events } = thread;
  const locks = hasVfs(thread) ? new LockPeriods(thread) : null;
  const byId = new Map<number, IdbTransaction>();
  const gets = new GetSequences(thread, (rows) => sequences.push({ thread, rows }));
  let [inPeriods, periods] = [0, 0];
  for (const row of rows.together(MATTERS)) {
    const op = events.op[row]!;
    if (isVfsOp(op)) {
      if (locks?.call(row, op)) periods++;
      continue;
    }
    const id = events.context[row]!;
    if (op === Op.idbTransaction) {
      if (events.flags[row]! & Flag.threw) continue;
      const made: IdbTransaction = {
        thread,
        row,
        isApps: own.has(events.object[row]!),
        mode: idbMode(events.aux[row]!),
        durability: idbDurability(events.aux[row]!),
        us: events.dur[row]!,
        ended: events.endSeq[row] !== 0,
        requests: 0,
        writes: 0,
        longestRequestUs: 0,
      };
      byId.set(id, made);
      transactions.push(made);
      if (!made.isApps && locks?.heldAt(events.seq[row]!)) inPeriods++;
      continue;
    }
    use.requests++;
    const transaction = byId.get(id);
    if (!transaction) use.looseRequests++;
    else {
      transaction.requests++;
      if (IDB_REQUEST[op] === 2) transaction.writes++;
      transaction.longestRequestUs = Math.max(transaction.longestRequestUs, events.dur[row]!);
    }
    gets.request(row);
  }
  gets.end();
  if (locks) {
    use.lockPeriods = (use.lockPeriods ?? 0) + periods;
    use.transactionsInPeriods = (use.transactionsInPeriods ?? 0) + inPeriods;
  }
  return true;
}

/**
 * Follows the locks on databases of one thread: `held` from the call that takes the first lock to
 * the one that releases the last.
 */
class LockPeriods {
  private readonly levels: LockLevels;
  /**
   * Sequence number at which the last unlocking call ends: what happens during the call still
   * counts.
   */
  private until = 0;

  constructor(private readonly thread: ThreadStore) {
    this.levels = new LockLevels(thread.events);
  }

  /** @param seq sequence number of a call */
  heldAt(seq: number): boolean {
    return this.levels.highest > 0 || seq < this.until;
  }

  /** @returns whether a period begins */
  call(row: number, op: number): boolean {
    const { levels } = this;
    const { events, definitions } = this.thread;
    if (!SETS_LEVEL[op]) return false;
    const d = definitions.get(events.object[row]!);
    if (d?.kind !== 'file' || d.fileKind !== 'main-db') return false;
    const before = levels.of(row);
    const after = levels.take(row);
    if (this.until === Infinity) this.until = 0; // that call is over, but its end was lost
    // work during a call that doesn't get a lock, or that releases the last one, counts, too
    if (after === 0 && (op === Op.xLock || before > 0))
      this.until = Math.max(this.until, events.endSeq[row] || Infinity);
    return before === 0 && after > 0;
  }
}
