/**
 * Where the time of one transaction went: every moment belongs to one part, and the parts sum to
 * the whole to the nanosecond.
 *
 *   sqlite3_step   ==========================        ======================
 *   VFS calls         llll  jjjj     wwww               ssssiiiiiss  uuuu
 *   part           ccclllcccjjjccccccwwwwcccc........ccccssssiiiiiss ccuuuu     c cpu  . idle  i idbComplete
 *
 * A VFS call of the transaction's connection has a part by its operation and file, or cpu if it
 * makes no storage call and doesn't wait. The wait for an IndexedDB transaction's completion inside
 * it is `idbComplete`. Between VFS calls, the part is cpu while an SQL call of the connection is
 * open, else idle.
 */
import { firstPlace } from '../../trace/number-columns.ts';
import type { EventColumns } from '../../trace/columns.ts';
import type { Owners } from '../../trace/owners.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { Op } from '../../event/event.ts';
import { idbMode, READWRITE } from '../../event/idb-modes.ts';
import { IDB_REQUEST, isVfsOp, opTable } from '../../event/operations.ts';
import type { FileKind } from '../../event/definitions.ts';
import { toNs } from '../../trace/lanes/sweep.ts';
import { isInMemory } from '../../trace/in-memory.ts';
import { idbDatabase } from '../core/app-databases.ts';
import type { RowsByOperation } from '../core/rows-by-operation.ts';
import { getOrMake } from '../core/maps.ts';

export const TRANSACTION_PARTS = [
  ...(['lock', 'dbRead', 'journalRead', 'walRead', 'journalWrite', 'walWrite', 'dbWrite'] as const),
  ...(['sync', 'idbComplete', 'unlock', 'otherVfs', 'cpu', 'idle'] as const),
] as const;
export type TransactionPart = (typeof TRANSACTION_PARTS)[number];
/** Microseconds, multiples of 0.001. */
export type TransactionTimes = Record<`${TransactionPart}Us`, number>;

const PART_NUMBER = Object.fromEntries(TRANSACTION_PARTS.map((p, i) => [p, i])) as Record<
  TransactionPart,
  number
>;

/** The part of a call that only computes. */
export const CPU_PART = PART_NUMBER.cpu;

/**
 * The part of a VFS call. Deleting or truncating a journal or WAL counts as a write to it.
 * @param computes from `computingCalls`: it only computes, which is CPU everywhere
 */
export function partOfCall(op: number, kind: FileKind, computes = false): number {
  if (computes) return CPU_PART;
  switch (op) {
    case Op.xLock:
    case Op.xCheckReservedLock:
    case Op.xShmLock:
      return PART_NUMBER.lock;
    case Op.xUnlock:
      return PART_NUMBER.unlock;
    case Op.xSync:
      return PART_NUMBER.sync;
    case Op.xRead:
      return kind === 'main-db'
        ? PART_NUMBER.dbRead
        : kind === 'journal'
          ? PART_NUMBER.journalRead
          : kind === 'wal'
            ? PART_NUMBER.walRead
            : PART_NUMBER.otherVfs;
    case Op.xWrite:
    case Op.xTruncate:
    case Op.xDelete:
      return kind === 'main-db'
        ? PART_NUMBER.dbWrite
        : kind === 'journal'
          ? PART_NUMBER.journalWrite
          : kind === 'wal'
            ? PART_NUMBER.walWrite
            : PART_NUMBER.otherVfs;
    default:
      return PART_NUMBER.otherVfs;
  }
}

/**
 * Whether a row is a VFS call whose time can count: on this connection, ended, and not on a journal
 * in memory.
 */
export const isTimedCall = (events: EventColumns, row: number, connection: number): boolean =>
  events.context[row] === connection &&
  isVfsOp(events.op[row]!) &&
  events.endSeq[row] !== 0 &&
  !isInMemory(events, row);

/**
 * Sums the calls of one transaction after another. Calls are given by row, in order. Times are
 * nanoseconds.
 */
export class TransactionClock {
  readonly ns = new Float64Array(TRANSACTION_PARTS.length);
  /**
   * The sums when `mark` was called, and their moment, which is later than requested if inside a
   * call. Without `mark`, the begin.
   */
  readonly marked = new Float64Array(TRANSACTION_PARTS.length);
  markedNs = 0;
  private cursor = 0;
  private sqlUntil = 0;
  private toNs = 0;

  constructor(
    private readonly events: EventColumns,
    private readonly completions: Completions,
  ) {}

  /** @param sqlUntil end of the SQL call that is open when the transaction begins */
  start(fromNs: number, toNs: number, sqlUntil: number): void {
    this.ns.fill(0);
    this.marked.fill(0);
    this.markedNs = fromNs;
    this.cursor = fromNs;
    this.toNs = toNs;
    this.sqlUntil = sqlUntil;
  }

  mark(ns: number): void {
    this.advance(ns);
    this.marked.set(this.ns);
    this.markedNs = this.cursor;
  }

  /** Sum the time between calls up to `ns`. */
  advance(ns: number): void {
    const to = Math.min(ns, this.toNs);
    if (to <= this.cursor) return;
    const cpu = Math.max(0, Math.min(to, this.sqlUntil) - this.cursor);
    this.ns[PART_NUMBER.cpu]! += cpu;
    this.ns[PART_NUMBER.idle]! += to - this.cursor - cpu;
    this.cursor = to;
  }

  /** When a call ends, nanoseconds; Infinity = it hasn't. */
  endOf(row: number): number {
    const { t0, dur, endSeq } = this.events;
    return endSeq[row] === 0 ? Infinity : toNs(t0[row]! + dur[row]!);
  }

  sqlCall(row: number): void {
    this.advance(toNs(this.events.t0[row]!));
    const end = this.endOf(row);
    if (end > this.sqlUntil) this.sqlUntil = end;
  }

  /** @param row of a call that has ended */
  vfsCall(row: number, part: number): void {
    const { ns } = this;
    const { t0, dur } = this.events;
    const begin = t0[row]!;
    this.advance(toNs(begin));
    const to = Math.min(toNs(begin + dur[row]!), this.toNs);
    const { cursor } = this;
    if (to <= cursor) return;
    const { completions } = this;
    const waited =
      completions.none || part === CPU_PART
        ? 0
        : completions.within(cursor, to, this.events.context[row]!);
    ns[PART_NUMBER.idbComplete]! += waited;
    ns[part]! += to - cursor - waited;
    this.cursor = to;
  }
}

/** Transactions of IndexedDB and their requests. */
const OF_IDB = opTable(({ code, request }) => code === Op.idbTransaction || request !== null);

/** Disjoint, ascending, nanoseconds. */
interface Windows {
  begins: number[];
  ends: number[];
}

/**
 * When readwrite IndexedDB transactions of a thread were completing: all requests were answered,
 * but `complete` hadn't fired. Each counts for the connection whose VFS call began it; one that a
 * VFS began outside its calls counts for the connections that use its database.
 */
export class Completions {
  private readonly all: { begin: number; end: number; connection: number; database: string }[];
  /** By name of an IndexedDB database: connections whose calls began its transactions. */
  private readonly users = new Map<string, Set<number>>();
  private readonly byConnection = new Map<number, Windows>();

  /**
   * @param calls of the thread @param app the app's own databases, whose transactions are left out
   */
  constructor(
    { events, definitions }: ThreadStore,
    calls: RowsByOperation,
    owners: Owners,
    app: ReadonlySet<number>,
  ) {
    const answered = new Map<number, number>();
    const rows: number[] = [];
    for (const i of calls.together(OF_IDB)) {
      const op = events.op[i]!;
      if (op === Op.idbTransaction) {
        if (
          idbMode(events.aux[i]!) === READWRITE &&
          events.endSeq[i] !== 0 &&
          !app.has(events.object[i]!)
        )
          rows.push(i);
      } else if (IDB_REQUEST[op] && events.endSeq[i] !== 0) {
        const end = toNs(events.t0[i]! + events.dur[i]!);
        const context = events.context[i]!;
        if (end > (answered.get(context) ?? -Infinity)) answered.set(context, end);
      }
    }
    this.all = rows.map((row) => {
      const begin = toNs(events.t0[row]!);
      const caller = owners.engine(row);
      const connection = caller < 0 ? 0 : events.context[caller]!;
      const database = idbDatabase(definitions.get(events.object[row]!)) ?? '';
      if (connection !== 0)
        getOrMake(this.users, database, () => new Set<number>()).add(connection);
      return {
        begin: Math.max(begin, answered.get(events.context[row]!) ?? begin),
        end: toNs(events.t0[row]! + events.dur[row]!),
        connection,
        database,
      };
    });
    this.all.sort((a, b) => a.begin - b.begin);
  }

  /** There were none: most VFSs don't use IndexedDB. */
  get none(): boolean {
    return this.all.length === 0;
  }
  private windowsOf(connection: number): Windows {
    const begins: number[] = [];
    const ends: number[] = [];
    for (const { begin, end, connection: own, database } of this.all) {
      const counts = own === 0 ? this.users.get(database)?.has(connection) : own === connection;
      if (connection !== 0 && !counts) continue;
      const last = ends.length - 1;
      if (last >= 0 && begin <= ends[last]!) ends[last] = Math.max(ends[last]!, end);
      else if (end > begin) {
        begins.push(begin);
        ends.push(end);
      }
    }
    return { begins, ends };
  }

  /** Nanoseconds of [from, to) within a window of the connection. */
  within(from: number, to: number, connection: number): number {
    if (this.none) return 0;
    const { begins, ends } = getOrMake(this.byConnection, connection, () =>
      this.windowsOf(connection),
    );
    let sum = 0;
    const first = firstPlace(0, ends.length, (i) => ends[i]! > from);
    for (let i = first; i < begins.length && begins[i]! < to; i++)
      sum += Math.min(to, ends[i]!) - Math.max(from, begins[i]!);
    return sum;
  }
}
