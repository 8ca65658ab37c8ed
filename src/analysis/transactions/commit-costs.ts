/**
 * What each write transaction called, from its first lock to its last unlock, as counts by operation: the measure of what a commit
 * costs, whichever journal it uses. Columns, one row a transaction that committed.
 */
import { AUX_WAL_HEADER, Flag, Op } from '../../event/event.ts';
import { isVfsOp, isWebOp, MOVES, Moves, STORAGE_WRITES } from '../../event/operations.ts';
import type { ThreadStore } from '../../trace/store.ts';
import type { Transaction, TransactionTable } from './transaction-table.ts';
import { type FindingContext, findingFact } from '../rules/context.ts';
import { Fcntl } from '../../sqlite/constants.ts';

/** Calls that are counted: */
const COUNTS = [
  // of all its files,
  ...(['syncs', 'locks', 'unlocks', 'accesses'] as const),
  // of its journal,
  ...([
    'journalSyncs',
    'journalOpens',
    'journalCloses',
    'journalDeletes',
    'journalTruncates',
    'journalReads',
    'journalWrites',
  ] as const),
  // of the database and the log, and of the storage beneath
  ...(['dbReads', 'dbWrites', 'walWrites', 'atomicBegins', 'webWrites'] as const),
] as const;
type Count = (typeof COUNTS)[number];
/** Where each stands among them. */
const AT = Object.fromEntries(COUNTS.map((name, i) => [name, i])) as Record<Count, number>;

/** Longest list of pages that is kept: who writes more is no small commit. */
const MANY_PAGES = 64;
const SMALLEST_PAGE = 512;

/** Thread, connection and file of a transaction as one number. */
export const connectionKey = (
  { thread, context, object }: TransactionTable,
  place: number,
): number => thread[place]! * 2 ** 44 + context[place]! * 2 ** 22 + object[place]!;

/** Columns, a row for each transaction that committed. */
class CostColumns {
  count = 0;
  readonly place: Uint32Array;
  readonly rows: Int32Array;
  /** Bytes, microseconds. */
  readonly sums: Float64Array;
  readonly counts: Uint32Array;
  readonly pages: number[] = [];
  readonly pagesEnd: Uint32Array;

  /** @param capacity rows at most */
  constructor(
    readonly transactions: TransactionTable,
    capacity: number,
  ) {
    this.place = new Uint32Array(capacity);
    this.rows = new Int32Array(capacity * 2);
    this.sums = new Float64Array(capacity * 2);
    this.counts = new Uint32Array(capacity * COUNTS.length);
    this.pagesEnd = new Uint32Array(capacity);
  }

  push(place: number, cost: CostDraft): void {
    const i = this.count++;
    this.place[i] = place;
    this.rows[i * 2] = cost.fromRow;
    this.rows[i * 2 + 1] = cost.toRow;
    this.sums[i * 2] = cost.bytes;
    this.sums[i * 2 + 1] = cost.us;
    this.counts.set(cost.counts, i * COUNTS.length);
    for (const page of cost.pages) this.pages.push(page);
    this.pagesEnd[i] = this.pages.length;
  }
}

/** One row of them. */
export class CommitCost {
  constructor(
    private readonly columns: CostColumns,
    private readonly i: number,
  ) {}
  /** Place in the list of transactions. */
  get place(): number {
    return this.columns.place[this.i]!;
  }
  get transaction(): Transaction {
    return this.columns.transactions.at(this.place);
  }
  /** First and last row. */
  get fromRow(): number {
    return this.columns.rows[this.i * 2]!;
  }
  get toRow(): number {
    return this.columns.rows[this.i * 2 + 1]!;
  }
  /** Bytes of its writes, and the sum of its VFS calls' durations. */
  get bytes(): number {
    return this.columns.sums[this.i * 2]!;
  }
  get us(): number {
    return this.columns.sums[this.i * 2 + 1]!;
  }
  calls(what: Count): number {
    return this.columns.counts[this.i * COUNTS.length + AT[what]]!;
  }
  /** Number of pages written, to database or log, at most MANY_PAGES. */
  get pageCount(): number {
    return this.columns.pagesEnd[this.i]! - this.pagesFrom;
  }
  /** The pages, by number from 1 (database: by place in the file). */
  get pages(): number[] {
    return this.columns.pages.slice(this.pagesFrom, this.columns.pagesEnd[this.i]);
  }
  private get pagesFrom(): number {
    return this.i === 0 ? 0 : this.columns.pagesEnd[this.i - 1]!;
  }
}

/** Committed write transactions, thread by thread, each in order of time. */
export const commitCosts = findingFact('commitCosts', 'commit costs', commitCostsOf);

function commitCostsOf(ctx: FindingContext): CommitCost[] {
  const { list } = ctx.transactions;
  let commits = 0;
  for (let i = 0; i < list.length; i++)
    if (list.isWrite(i) && list.outcome(i) === 'committed') commits++;
  const columns = new CostColumns(list, commits);
  /** By thread, file and connection: the row after the last transaction's end. */
  const ended = new Map<number, number>();
  const cost = new CostDraft();
  for (let i = 0; i < list.length; i++) {
    if (!list.isWrite(i)) continue;
    const t = list.at(i);
    const key = connectionKey(list, i);
    const after = ended.get(key) ?? 0;
    const from = Math.max(after, t.lockRow >= 0 ? Math.min(t.lockRow, t.beginRow) : t.beginRow);
    addUp(cost, ctx, t, from);
    ended.set(key, cost.toRow + 1);
    if (t.outcome === 'committed') columns.push(i, cost);
  }
  return Array.from({ length: columns.count }, (_, i) => new CommitCost(columns, i));
}

/** One transaction's while it is added up: the same object for all of them. */
class CostDraft {
  fromRow = 0;
  toRow = 0;
  bytes = 0;
  us = 0;
  readonly counts = new Uint32Array(COUNTS.length);
  readonly pages: number[] = [];

  begin(fromRow: number, toRow: number): void {
    this.fromRow = fromRow;
    this.toRow = toRow;
    this.bytes = this.us = 0;
    this.counts.fill(0);
    this.pages.length = 0;
  }
}

function addUp(cost: CostDraft, ctx: FindingContext, t: Transaction, from: number): void {
  const thread = ctx.store.threads[t.thread]!;
  const { events } = thread;
  const { counts, pages } = cost;
  cost.begin(from, t.endRow);
  for (let row = from; row < events.count; row++) {
    const op = events.op[row]!;
    if (row > t.endRow) {
      // the unlocks that follow at once
      if (op === Op.xUnlock && events.object[row] === t.object && events.context[row] === t.context)
        cost.toRow = row;
      else if (
        !isWebOp(op) &&
        op !== Op.xDeviceCharacteristics &&
        op !== Op.xFileControl &&
        op !== Op.sqlCounters
      )
        break;
    }
    if (!isVfsOp(op)) {
      if (MOVES[op] === Moves.webWrite) counts[AT.webWrites]!++;
      continue;
    }
    if (events.context[row] !== t.context || events.flags[row]! & Flag.memoryJournal) continue;
    const file = ctx.file(thread, events.object[row]!);
    if (file?.main !== t.path) continue;
    const { kind } = file;
    cost.us += events.dur[row]!;
    switch (op) {
      case Op.xSync:
        counts[AT.syncs]!++;
        if (kind === 'journal') counts[AT.journalSyncs]!++;
        break;
      case Op.xLock:
        counts[AT.locks]!++;
        break;
      case Op.xUnlock:
        counts[AT.unlocks]!++;
        break;
      case Op.xAccess:
        counts[AT.accesses]!++;
        break;
      case Op.xOpen:
        if (kind === 'journal') counts[AT.journalOpens]!++;
        break;
      case Op.xClose:
        if (kind === 'journal') counts[AT.journalCloses]!++;
        break;
      case Op.xDelete:
        if (kind === 'journal') counts[AT.journalDeletes]!++;
        break;
      case Op.xTruncate:
        if (kind === 'journal') counts[AT.journalTruncates]!++;
        break;
      case Op.xFileControl:
        if (events.aux[row] === Fcntl.beginAtomicWrite) counts[AT.atomicBegins]!++;
        break;
      case Op.xRead:
        if (kind === 'main-db') counts[AT.dbReads]!++;
        else if (kind === 'journal') counts[AT.journalReads]!++;
        break;
      case Op.xWrite: {
        const length = events.length[row]!;
        cost.bytes += length;
        let page = 0;
        if (kind === 'main-db') {
          counts[AT.dbWrites]!++;
          if (length >= SMALLEST_PAGE) page = Math.floor(events.offset[row]! / length) + 1;
        } else if (kind === 'journal') counts[AT.journalWrites]!++;
        else if (kind === 'wal') {
          counts[AT.walWrites]!++;
          if (events.aux[row] !== AUX_WAL_HEADER) page = events.aux[row]!;
        }
        if (page > 0 && pages.length < MANY_PAGES && !pages.includes(page)) pages.push(page);
        break;
      }
    }
  }
}

/**
 * No storage of the browser was written, on any thread, from the first to the last of these commits: the database lives in memory, where
 * a commit costs next to nothing. Never said where a thread's storage calls were not recorded from its beginning.
 */
export function nothingStored(ctx: FindingContext, commits: readonly CommitCost[]): boolean {
  const { threads } = ctx.store;
  const seesStorage = ({ environment, notes }: ThreadStore): boolean =>
    environment !== null && notes.length === 0 && environment.capture.layers.includes('web');
  if (!threads.every(seesStorage)) return false;
  const begin = (c: CommitCost): number => threads[c.transaction.thread]!.events.t0[c.fromRow]!;
  const fromUs = commits.reduce((us, c) => Math.min(us, begin(c)), Infinity);
  const toUs = commits.reduce((us, c) => Math.max(us, c.transaction.endUs), -Infinity);
  return threads.every((thread) =>
    STORAGE_WRITES.every((op) => {
      const rows = ctx.rows(thread, op);
      for (const row of rows)
        if (thread.events.t0[row]! >= fromUs && thread.events.t0[row]! <= toUs) return false;
      return true;
    }),
  );
}
