/**
 * What each write transaction called, from its first lock to its last unlock, as counts by operation: the measure of what a commit
 * costs, whichever journal it uses. Columns, one row a transaction that committed.
 */
import { AUX_WAL_HEADER, Flag, Op } from '../../event/event.ts';
import { isVfsOp, isWebOp, MOVES, Moves, STORAGE_WRITES } from '../../event/operations.ts';
import { columns, each } from '../../trace/number-columns.ts';
import type { ThreadStore } from '../../trace/store.ts';
import type { Transaction, TransactionTable } from './transaction-table.ts';
import { type FindingContext, findingFact } from '../rules/context.ts';
import { Fcntl } from '../../sqlite/constants.ts';

/** Calls that are counted: of all its files, of its journal, of the database and the log, and of the storage below. */
const COUNTS = [
  'syncs',
  'locks',
  'unlocks',
  'accesses',
  'journalSyncs',
  'journalOpens',
  'journalCloses',
  'journalDeletes',
  'journalTruncates',
  'journalReads',
  'journalWrites',
  'dbReads',
  'dbWrites',
  'walWrites',
  'atomicBegins',
  'webWrites',
] as const;
type Count = (typeof COUNTS)[number];

/** Longest list of pages that is kept: who writes more is no small commit. */
const MANY_PAGES = 64;
const SMALLEST_PAGE = 512;

/** Thread, connection and file of a transaction as one number. */
export const connectionKey = (
  { thread, context, object }: TransactionTable,
  place: number,
): number => thread[place]! * 2 ** 44 + context[place]! * 2 ** 22 + object[place]!;

/** A row for each write transaction. */
class CostColumns extends columns({
  /** In the list of transactions. */
  place: Uint32Array,
  fromRow: Int32Array,
  toRow: Int32Array,
  bytes: Float64Array,
  us: Float64Array,
  ...each(COUNTS, Uint32Array),
  /** Where its own end in `pages`. */
  pagesEnd: Uint32Array,
}) {
  readonly pages: number[] = [];

  constructor(readonly transactions: TransactionTable) {
    super();
  }
  pagesFrom(i: number): number {
    return i === 0 ? 0 : this.pagesEnd[i - 1]!;
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
    return this.columns.fromRow[this.i]!;
  }
  get toRow(): number {
    return this.columns.toRow[this.i]!;
  }
  /** Bytes of its writes, and the sum of its VFS calls' durations. */
  get bytes(): number {
    return this.columns.bytes[this.i]!;
  }
  get us(): number {
    return this.columns.us[this.i]!;
  }
  calls(what: Count): number {
    return this.columns[what][this.i]!;
  }
  /** Number of pages written, to database or log, at most MANY_PAGES. */
  get pageCount(): number {
    return this.columns.pagesEnd[this.i]! - this.columns.pagesFrom(this.i);
  }
  /** The pages, by number from 1 (database: by place in the file). */
  get pages(): number[] {
    const { columns: all, i } = this;
    return all.pages.slice(all.pagesFrom(i), all.pagesEnd[i]);
  }
}

/** Committed write transactions, thread by thread, each in order of time. */
export const commitCosts = findingFact('commitCosts', 'commit costs', commitCostsOf);

function commitCostsOf(ctx: FindingContext): CommitCost[] {
  const { list } = ctx.transactions;
  const costs = new CostColumns(list);
  const found: CommitCost[] = [];
  /** By thread, file and connection: the row after the last transaction's end. */
  const ended = new Map<number, number>();
  for (let place = 0; place < list.length; place++) {
    if (!list.isWrite(place)) continue;
    const t = list.at(place);
    const key = connectionKey(list, place);
    const after = ended.get(key) ?? 0;
    const i = costs.add();
    costs.place[i] = place;
    costs.fromRow[i] = Math.max(
      after,
      t.lockRow >= 0 ? Math.min(t.lockRow, t.beginRow) : t.beginRow,
    );
    addUp(costs, i, ctx, t);
    ended.set(key, costs.toRow[i]! + 1);
    if (t.outcome === 'committed') found.push(new CommitCost(costs, i));
  }
  return found;
}

function addUp(costs: CostColumns, i: number, ctx: FindingContext, t: Transaction): void {
  const thread = ctx.store.threads[t.thread]!;
  const { events } = thread;
  const { pages } = costs;
  const pagesFrom = costs.pagesFrom(i);
  costs.toRow[i] = t.endRow;
  for (let row = costs.fromRow[i]!; row < events.count; row++) {
    const op = events.op[row]!;
    if (row > t.endRow) {
      // the unlocks that follow at once
      if (op === Op.xUnlock && events.object[row] === t.object && events.context[row] === t.context)
        costs.toRow[i] = row;
      else if (
        !isWebOp(op) &&
        op !== Op.xDeviceCharacteristics &&
        op !== Op.xFileControl &&
        op !== Op.sqlCounters
      )
        break;
    }
    if (!isVfsOp(op)) {
      if (MOVES[op] === Moves.webWrite) costs.webWrites[i]!++;
      continue;
    }
    if (events.context[row] !== t.context || events.flags[row]! & Flag.memoryJournal) continue;
    const file = ctx.file(thread, events.object[row]!);
    if (file?.main !== t.path) continue;
    const { kind } = file;
    costs.us[i]! += events.dur[row]!;
    switch (op) {
      case Op.xSync:
        costs.syncs[i]!++;
        if (kind === 'journal') costs.journalSyncs[i]!++;
        break;
      case Op.xLock:
        costs.locks[i]!++;
        break;
      case Op.xUnlock:
        costs.unlocks[i]!++;
        break;
      case Op.xAccess:
        costs.accesses[i]!++;
        break;
      case Op.xOpen:
        if (kind === 'journal') costs.journalOpens[i]!++;
        break;
      case Op.xClose:
        if (kind === 'journal') costs.journalCloses[i]!++;
        break;
      case Op.xDelete:
        if (kind === 'journal') costs.journalDeletes[i]!++;
        break;
      case Op.xTruncate:
        if (kind === 'journal') costs.journalTruncates[i]!++;
        break;
      case Op.xFileControl:
        if (events.aux[row] === Fcntl.beginAtomicWrite) costs.atomicBegins[i]!++;
        break;
      case Op.xRead:
        if (kind === 'main-db') costs.dbReads[i]!++;
        else if (kind === 'journal') costs.journalReads[i]!++;
        break;
      case Op.xWrite: {
        const length = events.length[row]!;
        costs.bytes[i]! += length;
        let page = 0;
        if (kind === 'main-db') {
          costs.dbWrites[i]!++;
          if (length >= SMALLEST_PAGE) page = Math.floor(events.offset[row]! / length) + 1;
        } else if (kind === 'journal') costs.journalWrites[i]!++;
        else if (kind === 'wal') {
          costs.walWrites[i]!++;
          if (events.aux[row] !== AUX_WAL_HEADER) page = events.aux[row]!;
        }
        if (page > 0 && pages.length - pagesFrom < MANY_PAGES && !pages.includes(page, pagesFrom))
          pages.push(page);
        break;
      }
    }
  }
  costs.pagesEnd[i] = pages.length;
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
