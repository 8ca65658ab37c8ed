/**
 * Anatomies of all transactions in columns, because there are hundreds of thousands. Objects are
 * made on request.
 */
import type { FileKind } from '../../event/definitions.ts';
import { Op } from '../../event/event.ts';
import { LOCK_LEVELS } from '../../sqlite/constants.ts';
import { columns, each } from '../../trace/number-columns.ts';
import type { Numbers } from '../../trace/typed-arrays.ts';
import { DistinctPlaces } from '../core/distinct-places.ts';
import type { LadderStep, TransactionAnatomy } from './anatomy.ts';
import { TRANSACTION_PARTS, type TransactionTimes } from './transaction-time.ts';
import type { TransactionTable } from './transaction-table.ts';

const PARTS = TRANSACTION_PARTS.map((part) => `${part}Us` as const);
const MODES = [null, 'autocommit', 'explicit'] as const;

const IDLE = PARTS.indexOf('idleUs');

/**
 * Times by part, nanoseconds. Those of one transaction are side by side, because they are written
 * together.
 */
class Times {
  private ns: Numbers;

  /** @param length capacity in transactions */
  constructor(length: number) {
    this.ns = new Uint32Array(length * PARTS.length);
  }

  put(i: number, ns: Float64Array): void {
    const at = i * PARTS.length;
    let all = this.ns;
    for (let part = 0; part < PARTS.length; part++) {
      const time = ns[part]!;
      all[at + part] = time;
      if (all[at + part] === time || all instanceof Float64Array) continue;
      all = this.ns = Float64Array.from(all);
      all[at + part] = time;
    }
  }
  /** Microseconds of a part; 0 if none were set. */
  us(i: number, part: number): number {
    return (this.ns[i * PARTS.length + part] ?? 0) / 1000;
  }
  at(i: number): TransactionTimes {
    const times = {} as TransactionTimes;
    PARTS.forEach((part, p) => (times[part] = this.us(i, p)));
    return times;
  }
}

/** Lock levels that a transaction requested, microseconds; NaN = not granted, not released. */
class Steps extends columns({
  level: Uint8Array,
  askedUs: Float64Array,
  grantedUs: Float64Array,
  leftUs: Float64Array,
  /** Refusals. */
  busy: Uint32Array,
}) {}
class Rows extends columns({ row: Uint32Array }) {}
class Pages extends columns({ page: Float64Array }) {}

/**
 * Counted VFS calls of a transaction, with any result: the operation, and the kind of file; '' =
 * all of its files.
 */
export const VFS_CALLS = {
  locks: [Op.xLock, ''],
  unlocks: [Op.xUnlock, ''],
  accesses: [Op.xAccess, ''],
  dbReads: [Op.xRead, 'main-db'],
  dbWrites: [Op.xWrite, 'main-db'],
  walReads: [Op.xRead, 'wal'],
  walWrites: [Op.xWrite, 'wal'],
  journalReads: [Op.xRead, 'journal'],
  journalWrites: [Op.xWrite, 'journal'],
  journalSyncs: [Op.xSync, 'journal'],
  journalOpens: [Op.xOpen, 'journal'],
  journalCloses: [Op.xClose, 'journal'],
  journalDeletes: [Op.xDelete, 'journal'],
  journalTruncates: [Op.xTruncate, 'journal'],
} as const satisfies Record<string, readonly [op: number, kind: FileKind | '']>;
export type VfsCallCount = keyof typeof VFS_CALLS;
/** All counts of a transaction, including its storage calls. */
export const CALLS = [
  ...(Object.keys(VFS_CALLS) as VfsCallCount[]),
  ...(['atomicBegins', 'webWrites'] as const),
];
export type CallCount = (typeof CALLS)[number];

/** Maximum pages in a transaction's list. If it writes more, the list ends early. */
export const LISTED_PAGES = 16;

/** The total cost of commits; `time` sums to `spanUs`. */
export interface CommitTotals {
  commits: number;
  /** Their time without idle time. */
  us: number;
  time: TransactionTimes;
}

const known = (value: number): number | null => (Number.isNaN(value) ? null : value);

/**
 * Columns as in `TransactionAnatomy`, by index of the transaction. Those of the last row change
 * until the next one begins.
 */
export class AnatomyTable
  extends columns({
    fromUs: Float64Array,
    toUs: Float64Array,
    /** Row of its first call. */
    fromRow: Uint32Array,
    /** Place in MODES. */
    mode: Uint8Array,
    /** 0: no SQL call was recorded. */
    statementsKnown: Uint8Array,
    beginStatementRow: Int32Array,
    endStatementRow: Int32Array,
    pagesRead: Uint32Array,
    /** -1 = not known. */
    pagesWritten: Int32Array,
    dbBytes: Float64Array,
    journalBytes: Float64Array,
    walBytes: Float64Array,
    syncs: Uint32Array,
    busyRetries: Uint32Array,
    /** When its commit began; NaN = it didn't commit. */
    commitUs: Float64Array,
    /**
     * Instructions from its first call to its last, and those of its commit; NaN = not counted, or
     * no commit.
     */
    instructions: Float64Array,
    commitInstructions: Float64Array,
    ...each(CALLS, Uint32Array),
    /** Where its entries begin in `steps`, `statements`, and `pages`. */
    steps0: Uint32Array,
    statements0: Uint32Array,
    pages0: Uint32Array,
  })
  implements Iterable<TransactionAnatomy>
{
  private readonly time: Times;
  private readonly commitTime: Times;
  private readonly steps = new Steps();
  private readonly statements = new Rows();
  private readonly pages = new Pages();

  /** @param transactions whose anatomies are added, in this order */
  constructor(readonly transactions: TransactionTable) {
    super(transactions.length);
    this.time = new Times(transactions.length);
    this.commitTime = new Times(transactions.length);
  }

  get length(): number {
    return this.count;
  }

  /** Whether a BEGIN opened it. False if that isn't known. */
  isExplicit(i: number): boolean {
    return MODES[this.mode[i]!] === 'explicit';
  }

  /** Begins the next one. @returns its index */
  begin(mode: TransactionAnatomy['mode']): number {
    const i = this.add();
    this.mode[i] = MODES.indexOf(mode);
    this.commitUs[i] = this.instructions[i] = this.commitInstructions[i] = NaN;
    this.steps0[i] = this.steps.count;
    this.statements0[i] = this.statements.count;
    this.pages0[i] = this.pages.count;
    return i;
  }

  /** Adds an execution to the last one, by the row of its first call. */
  addStatement(row: number): void {
    const i = this.statements.add();
    this.statements.row[i] = row;
  }

  /** The last one writes a page for the first time: its number in the database, from 1. */
  addPage(page: number): void {
    if (this.pages.count - this.pages0[this.count - 1]! === LISTED_PAGES) return;
    const i = this.pages.add();
    this.pages.page[i] = page;
  }

  /**
   * The last one requests a lock level.
   * @param granted when it was granted, or NaN @param busy whether it was refused
   */
  asked(level: number, askedUs: number, granted: number, busy: boolean): void {
    const { steps } = this;
    let s = this.stepOf(this.count - 1, level);
    if (s < 0) {
      s = steps.add();
      steps.level[s] = level;
      steps.askedUs[s] = askedUs;
      steps.grantedUs[s] = steps.leftUs[s] = NaN;
    }
    if (Number.isNaN(steps.grantedUs[s]!)) steps.grantedUs[s] = granted;
    if (busy) steps.busy[s]!++;
  }
  /** It releases the levels above this one. */
  left(level: number, atUs: number): void {
    const { grantedUs, leftUs, level: levels, count } = this.steps;
    for (let s = this.steps0[this.count - 1]!; s < count; s++)
      if (levels[s]! > level && !Number.isNaN(grantedUs[s]!) && Number.isNaN(leftUs[s]!))
        leftUs[s] = atUs;
  }

  /**
   * Where the time of the last one went.
   * @param ns by part, nanoseconds @param beforeCommit the part of it before the commit; it is
   * overwritten
   */
  spent(ns: Float64Array, beforeCommit: Float64Array): void {
    const i = this.count - 1;
    this.time.put(i, ns);
    if (Number.isNaN(this.commitUs[i]!)) return;
    for (let part = 0; part < PARTS.length; part++)
      beforeCommit[part] = ns[part]! - beforeCommit[part]!;
    this.commitTime.put(i, beforeCommit);
  }

  durationUs(i: number): number {
    return this.toUs[i]! - this.fromUs[i]!;
  }
  /** Written to database, journal, and WAL. */
  bytesWritten(i: number): number {
    return this.dbBytes[i]! + this.journalBytes[i]! + this.walBytes[i]!;
  }
  /** Time without calls, microseconds. */
  idleUs(i: number): number {
    return this.time.us(i, IDLE);
  }
  /** Rows of the first calls of the executions inside it. */
  statementRows(i: number): Uint32Array {
    const { row, count } = this.statements;
    return row.subarray(this.statements0[i], this.endOf(this.statements0, i, count));
  }
  /** How many distinct pages several wrote, using the first LISTED_PAGES of each. */
  distinctPages(places: readonly number[]): number {
    const { page, count } = this.pages;
    const distinct = new DistinctPlaces();
    for (const i of places) {
      const to = this.endOf(this.pages0, i, count);
      for (let p = this.pages0[i]!; p < to; p++) distinct.add(page[p]!);
    }
    return distinct.size;
  }
  /** When a lock level was first requested, microseconds; NaN = it wasn't. */
  askedUs(i: number, level: number): number {
    const step = this.stepOf(i, level);
    return step < 0 ? NaN : this.steps.askedUs[step]!;
  }

  /** Time of a commit, without idle time, microseconds; null if it didn't commit. */
  private commitCost(i: number): number | null {
    const fromUs = this.commitUs[i]!;
    return Number.isNaN(fromUs) ? null : this.toUs[i]! - fromUs - this.commitTime.us(i, IDLE);
  }

  /**
   * All commits together: their number, the time from begin to end of each, and by part;
   * microseconds.
   * @param places of transactions; default: all
   */
  commitTotals(places: Iterable<number> = Array(this.count).keys()): CommitTotals {
    const totals = { commits: 0, us: 0, time: new Times(0).at(0) };
    for (const i of places) {
      if (Number.isNaN(this.commitUs[i]!)) continue;
      totals.commits++;
      totals.us += this.commitCost(i)!;
      PARTS.forEach((part, p) => (totals.time[part] += this.commitTime.us(i, p)));
    }
    return totals;
  }

  /**
   * Time of transactions from begin to end, without idle time, microseconds.
   * @param places their indices
   */
  busyUs(places: Iterable<number>): number {
    let us = 0;
    for (const i of places) us += this.durationUs(i) - this.idleUs(i);
    return us;
  }

  at(i: number): TransactionAnatomy {
    const [fromUs, toUs] = [this.commitUs[i]!, this.toUs[i]!];
    const statementRows = [...this.statementRows(i)];
    return {
      transaction: this.transactions.at(i),
      fromUs: this.fromUs[i]!,
      toUs,
      ladder: LOCK_LEVELS.map((_, level) => this.step(this.stepOf(i, level))),
      mode: MODES[this.mode[i]!]!,
      beginStatementRow: this.beginStatementRow[i]!,
      endStatementRow: this.endStatementRow[i]!,
      statements: this.statementsKnown[i] ? statementRows.length : null,
      statementRows,
      pagesRead: this.pagesRead[i]!,
      pagesWritten: this.pagesWritten[i]! < 0 ? null : this.pagesWritten[i]!,
      dbBytes: this.dbBytes[i]!,
      journalBytes: this.journalBytes[i]!,
      walBytes: this.walBytes[i]!,
      syncs: this.syncs[i]!,
      busyRetries: this.busyRetries[i]!,
      time: this.time.at(i),
      instructions: known(this.instructions[i]!),
      commit: Number.isNaN(fromUs)
        ? null
        : {
            ...{ fromUs, toUs, us: this.commitCost(i)!, time: this.commitTime.at(i) },
            instructions: known(this.commitInstructions[i]!),
          },
    };
  }

  /** Each as an object that is only valid until the next one. */
  *[Symbol.iterator](): Generator<TransactionAnatomy> {
    for (let i = 0; i < this.count; i++) yield this.at(i);
  }

  /**
   * Where the entries of the next one begin.
   * @param begins of each one's @param all their number
   */
  private endOf(begins: Numbers, i: number, all: number): number {
    return i + 1 < this.count ? begins[i + 1]! : all;
  }
  /** Index in `steps`; -1 = the level wasn't requested. */
  private stepOf(i: number, level: number): number {
    const { level: levels, count } = this.steps;
    const to = this.endOf(this.steps0, i, count);
    for (let s = this.steps0[i]!; s < to; s++) if (levels[s] === level) return s;
    return -1;
  }
  private step(s: number): LadderStep | null {
    const { askedUs, grantedUs, leftUs, busy } = this.steps;
    const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);
    return s < 0
      ? null
      : {
          askedUs: askedUs[s]!,
          grantedUs: orNull(grantedUs[s]!),
          leftUs: orNull(leftUs[s]!),
          busy: busy[s]!,
        };
  }
}
