/**
 * Anatomies of all transactions of a trace, in columns: an anatomy has some fifty numbers, most of them 0, and as objects those of a trace
 * of ten million events take half a gigabyte, which every collection of garbage goes through. Numbers that are 0 are left out, so one
 * takes some 120 bytes. An object is made when one is asked for.
 */
import type { LadderStep, TransactionAnatomy } from './anatomy.ts';
import { TRANSACTION_PARTS, type TransactionTimes } from './transaction-time.ts';
import type { TransactionTable } from './transaction-table.ts';

const PARTS = TRANSACTION_PARTS.length;
const NAMES = TRANSACTION_PARTS.map((part) => `${part}Us` as const);
const MODES = [null, 'autocommit', 'explicit'] as const;

/** Times by part, nanoseconds, and behind them bytes: what `values` holds of an anatomy. */
const DB_BYTES = PARTS;
const JOURNAL_BYTES = PARTS + 1;
const WAL_BYTES = PARTS + 2;
const VALUES = PARTS + 3;
/** Numbers of a lock level in a draft: asked, granted, left, refusals; NaN = null. */
const STEP = 4;
const LEVELS = 5;
/** Whole numbers; -1 = null. `what`: mode, COMMITTED, STATEMENTS_KNOWN. The last three: where its own begin in `values`, `steps`, `statements`. */
const I = {
  what: 0,
  beginStatementRow: 1,
  endStatementRow: 2,
  pagesRead: 3,
  pagesWritten: 4,
  syncs: 5,
  busyRetries: 6,
  values: 7,
  steps: 8,
  statementRows: 9,
} as const;
const INTEGERS = 10;
const COMMITTED = 4;
const STATEMENTS_KNOWN = 8;

/** Numbers one after another, in an array that grows; whole ones in half the room as long as they fit. */
class Pool {
  used = 0;
  constructor(public values: Float64Array | Uint32Array) {}
  push(value: number): void {
    if (this.used === this.values.length) {
      const more = new (this.values.constructor as new (n: number) => Float64Array | Uint32Array)(
        this.values.length * 2,
      );
      more.set(this.values);
      this.values = more;
    }
    this.values[this.used] = value;
    if (this.values[this.used] !== value && this.values instanceof Uint32Array) {
      this.values = Float64Array.from(this.values);
      this.values[this.used] = value;
    }
    this.used++;
  }

  /** Those that are not 0, behind a number that says which. */
  pushSparse(from: Float64Array, count: number): void {
    let mask = 0;
    for (let i = 0; i < count; i++) if (from[i] !== 0) mask |= 1 << i;
    this.push(mask);
    for (let i = 0; i < count; i++) if (from[i] !== 0) this.push(from[i]!);
  }
  /** @param at where they begin @returns where the next ones do */
  readSparse(at: number, into: Float64Array): number {
    const mask = this.values[at++]!;
    for (let i = 0; i < into.length; i++) into[i] = mask & (1 << i) ? this.values[at++]! : 0;
    return at;
  }
}

/** One anatomy while it is found out: the same object for all of them. */
export class AnatomyDraft {
  fromUs = 0;
  toUs = 0;
  mode: TransactionAnatomy['mode'] = null;
  beginStatementRow = -1;
  endStatementRow = -1;
  /** false: no SQL call was recorded. */
  statementsKnown = false;
  readonly statementRows: number[] = [];
  pagesRead = 0;
  /** -1 = not known. */
  pagesWritten = -1;
  dbBytes = 0;
  journalBytes = 0;
  walBytes = 0;
  syncs = 0;
  busyRetries = 0;
  /** NaN = nothing was committed. */
  commitFromUs = NaN;
  private readonly steps = new Float64Array(LEVELS * STEP);

  /** Begin with the next one. */
  clear(): void {
    this.statementRows.length = 0;
    this.pagesRead =
      this.dbBytes =
      this.journalBytes =
      this.walBytes =
      this.syncs =
      this.busyRetries =
        0;
    this.pagesWritten = -1;
    this.commitFromUs = NaN;
    this.steps.fill(NaN);
  }

  /** A call that asks for a level. @param granted when it was, or NaN @param busy whether it was refused */
  asked(level: number, atUs: number, granted: number, busy: boolean): void {
    const { steps } = this;
    const at = level * STEP;
    if (Number.isNaN(steps[at]!)) {
      steps[at] = atUs;
      steps[at + 3] = 0;
    }
    if (Number.isNaN(steps[at + 1]!)) steps[at + 1] = granted;
    if (busy) steps[at + 3]!++;
  }
  /** Levels above this one were given back. */
  left(level: number, atUs: number): void {
    const { steps } = this;
    for (let at = (Math.max(0, level) + 1) * STEP; at < steps.length; at += STEP)
      if (!Number.isNaN(steps[at + 1]!) && Number.isNaN(steps[at + 2]!)) steps[at + 2] = atUs;
  }

  /** Those that were asked for: level + refusals * LEVELS, asked, granted, left. */
  putSteps(pool: Pool): void {
    const { steps } = this;
    for (let level = 0; level < LEVELS; level++) {
      const at = level * STEP;
      if (Number.isNaN(steps[at]!)) continue;
      pool.push(level + steps[at + 3]! * LEVELS);
      for (let i = 0; i < 3; i++) pool.push(steps[at + i]!);
    }
  }
}

/** What making durable cost in all; `time` sums to `spanUs`. */
export interface CommitTotals {
  commits: number;
  spanUs: number;
  time: TransactionTimes;
}

export class AnatomyTable implements Iterable<TransactionAnatomy> {
  length = 0;
  /** From and to, microseconds. */
  private readonly spans: Float64Array;
  private readonly integers: Int32Array;
  /** Times and bytes; of those that committed, the times of the commit behind them. */
  private readonly values = new Pool(new Uint32Array(256));
  /** Of those that committed, behind the steps: when the commit began. */
  private readonly steps = new Pool(new Float64Array(256));
  private readonly statements = new Pool(new Uint32Array(64));
  private readonly scratch = new Float64Array(VALUES);

  /** @param transactions whose anatomies are pushed, in this order */
  constructor(readonly transactions: TransactionTable) {
    this.spans = new Float64Array(transactions.length * 2);
    this.integers = new Int32Array(transactions.length * INTEGERS);
  }

  /** @param ns times by part, nanoseconds @param beforeCommit what of them was before the commit */
  push(a: AnatomyDraft, ns: Float64Array, beforeCommit: Float64Array): void {
    const i = this.length++;
    const { integers, values, steps, statements, scratch } = this;
    this.spans[i * 2] = a.fromUs;
    this.spans[i * 2 + 1] = a.toUs;
    const committed = !Number.isNaN(a.commitFromUs);
    const k = i * INTEGERS;
    integers[k + I.what] =
      MODES.indexOf(a.mode) |
      (committed ? COMMITTED : 0) |
      (a.statementsKnown ? STATEMENTS_KNOWN : 0);
    integers[k + I.beginStatementRow] = a.beginStatementRow;
    integers[k + I.endStatementRow] = a.endStatementRow;
    integers[k + I.pagesRead] = a.pagesRead;
    integers[k + I.pagesWritten] = a.pagesWritten;
    integers[k + I.syncs] = a.syncs;
    integers[k + I.busyRetries] = a.busyRetries;
    integers[k + I.values] = values.used;
    integers[k + I.steps] = steps.used;
    integers[k + I.statementRows] = statements.used;
    scratch.set(ns);
    scratch[DB_BYTES] = a.dbBytes;
    scratch[JOURNAL_BYTES] = a.journalBytes;
    scratch[WAL_BYTES] = a.walBytes;
    values.pushSparse(scratch, VALUES);
    a.putSteps(steps);
    if (committed) {
      for (let part = 0; part < PARTS; part++) scratch[part] = ns[part]! - beforeCommit[part]!;
      values.pushSparse(scratch, PARTS);
      steps.push(a.commitFromUs);
    }
    for (const row of a.statementRows) statements.push(row);
  }

  fromUs(i: number): number {
    return this.spans[i * 2]!;
  }
  toUs(i: number): number {
    return this.spans[i * 2 + 1]!;
  }
  durationUs(i: number): number {
    return this.spans[i * 2 + 1]! - this.spans[i * 2]!;
  }
  /** Rows of the first calls of the executions inside it. */
  statementRows(i: number): Float64Array | Uint32Array {
    return this.statements.values.subarray(
      this.startOf(i, I.statementRows),
      this.endOf(i, I.statementRows, this.statements),
    );
  }

  /** All commits together: how many, from begin to end of each, and by part; microseconds. */
  commitTotals(): CommitTotals {
    const totals = { commits: 0, spanUs: 0, time: timesOf(new Float64Array(PARTS)) };
    const ns = new Float64Array(PARTS);
    for (let i = 0; i < this.length; i++) {
      if (!(this.integers[i * INTEGERS + I.what]! & COMMITTED)) continue;
      totals.commits++;
      totals.spanUs += this.spans[i * 2 + 1]! - this.commitFromUs(i);
      this.values.readSparse(this.values.readSparse(this.startOf(i, I.values), this.scratch), ns);
      for (let part = 0; part < PARTS; part++) totals.time[NAMES[part]!] += ns[part]! / 1000;
    }
    return totals;
  }

  at(i: number): TransactionAnatomy {
    const { integers, spans } = this;
    const k = i * INTEGERS;
    const what = integers[k + I.what]!;
    const values = new Float64Array(VALUES);
    const commitAt = this.values.readSparse(integers[k + I.values]!, values);
    const toUs = spans[i * 2 + 1]!;
    const statementRows = [...this.statementRows(i)];
    return {
      transaction: this.transactions.at(i),
      fromUs: spans[i * 2]!,
      toUs,
      ladder: this.ladder(i),
      mode: MODES[what & 3]!,
      beginStatementRow: integers[k + I.beginStatementRow]!,
      endStatementRow: integers[k + I.endStatementRow]!,
      statements: what & STATEMENTS_KNOWN ? statementRows.length : null,
      statementRows,
      pagesRead: integers[k + I.pagesRead]!,
      pagesWritten: integers[k + I.pagesWritten]! < 0 ? null : integers[k + I.pagesWritten]!,
      dbBytes: values[DB_BYTES]!,
      journalBytes: values[JOURNAL_BYTES]!,
      walBytes: values[WAL_BYTES]!,
      syncs: integers[k + I.syncs]!,
      busyRetries: integers[k + I.busyRetries]!,
      time: timesOf(values),
      commit: what & COMMITTED ? this.commit(i, commitAt, toUs) : null,
    };
  }

  /** Each as an object that lives as long as it is looked at. */
  *[Symbol.iterator](): Generator<TransactionAnatomy> {
    for (let i = 0; i < this.length; i++) yield this.at(i);
  }

  private commit(i: number, at: number, toUs: number): TransactionAnatomy['commit'] {
    const values = new Float64Array(PARTS);
    this.values.readSparse(at, values);
    return { fromUs: this.commitFromUs(i), toUs, time: timesOf(values) };
  }

  /** When its commit began, microseconds; NaN = nothing was committed. */
  commitUs(i: number): number {
    return this.integers[i * INTEGERS + I.what]! & COMMITTED ? this.commitFromUs(i) : NaN;
  }

  /** When a lock level was asked for first, microseconds; NaN = it was not. */
  askedUs(i: number, level: number): number {
    const { values } = this.steps;
    for (
      let s = this.startOf(i, I.steps), end = this.endOf(i, I.steps, this.steps);
      s + STEP <= end;
      s += STEP
    )
      if (values[s]! % LEVELS === level) return values[s + 1]!;
    return NaN;
  }

  /** Of one that committed. */
  private commitFromUs(i: number): number {
    return this.steps.values[this.endOf(i, I.steps, this.steps) - 1]!;
  }

  private ladder(i: number): (LadderStep | null)[] {
    const { values } = this.steps;
    const ladder = new Array<LadderStep | null>(LEVELS).fill(null);
    const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);
    for (
      let s = this.startOf(i, I.steps), end = this.endOf(i, I.steps, this.steps);
      s + STEP <= end;
      s += STEP
    )
      ladder[values[s]! % LEVELS] = {
        askedUs: values[s + 1]!,
        grantedUs: orNull(values[s + 2]!),
        leftUs: orNull(values[s + 3]!),
        busy: Math.floor(values[s]! / LEVELS),
      };
    return ladder;
  }

  private startOf(i: number, what: number): number {
    return this.integers[i * INTEGERS + what]!;
  }
  private endOf(i: number, what: number, pool: Pool): number {
    return i + 1 < this.length ? this.startOf(i + 1, what) : pool.used;
  }
}

/** @param ns nanoseconds by part */
function timesOf(ns: Float64Array): TransactionTimes {
  const times = {} as TransactionTimes;
  for (let part = 0; part < PARTS; part++) times[NAMES[part]!] = ns[part]! / 1000;
  return times;
}
