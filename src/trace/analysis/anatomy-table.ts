/**
 * Anatomies of all transactions of a trace, in columns: an anatomy has some fifty numbers, and as objects those of a trace of ten million
 * events take half a gigabyte, which every collection of garbage goes through. An object is made when one is asked for.
 */
import type { LadderStep, TransactionAnatomy } from './transaction-anatomy.ts';
import { TRANSACTION_PARTS, type TransactionTimes } from './transaction-time.ts';
import type { Transaction } from './transactions.ts';

const PARTS = TRANSACTION_PARTS.map((part) => `${part}Us` as const);
const MODES = [null, 'autocommit', 'explicit'] as const;

/** Places of the numbers of one anatomy; times follow. */
const N = { fromUs: 0, toUs: 1, dbBytes: 2, journalBytes: 3, walBytes: 4, time: 5 } as const;
const NUMBERS = N.time + PARTS.length;
/** Of a commit: from, to, times. */
const COMMIT_NUMBERS = 2 + PARTS.length;
/** Of a step of the ladder: level, asked, granted, left, busy; NaN = null. */
const STEP_NUMBERS = 5;
/** Whole numbers; -1 = null. `commit`, `steps` and `statementRows`: where its own begin. */
const I = {
  ...{ mode: 0, beginStatementRow: 1, endStatementRow: 2, statements: 3, pagesRead: 4, pagesWritten: 5, syncs: 6, busyRetries: 7 },
  ...{ commit: 8, steps: 9, statementRows: 10 },
} as const;
const INTEGERS = 11;

/** Numbers one after another, in an array that grows. */
class Pool<T extends Float64Array | Uint32Array> {
  used = 0;
  constructor(public values: T) {}
  push(value: number): void {
    if (this.used === this.values.length) {
      const more = new (this.values.constructor as new (n: number) => T)(this.values.length * 2);
      more.set(this.values);
      this.values = more;
    }
    this.values[this.used++] = value;
  }
}

const NO_TIMES = new Float64Array(PARTS.length);

/** What making durable cost in all; `time` sums to `spanUs`. */
export interface CommitTotals {
  commits: number;
  spanUs: number;
  time: TransactionTimes;
}

export class AnatomyTable implements Iterable<TransactionAnatomy> {
  length = 0;
  private readonly numbers: Float64Array;
  private readonly integers: Int32Array;
  private readonly commits = new Pool(new Float64Array(COMMIT_NUMBERS * 16));
  private readonly steps = new Pool(new Float64Array(STEP_NUMBERS * 64));
  private readonly statements = new Pool(new Uint32Array(64));

  /** @param transactions whose anatomies are pushed, in this order */
  constructor(readonly transactions: readonly Transaction[]) {
    this.numbers = new Float64Array(transactions.length * NUMBERS);
    this.integers = new Int32Array(transactions.length * INTEGERS);
  }

  push(a: TransactionAnatomy): void {
    const i = this.length++;
    const { numbers, integers } = this;
    const n = i * NUMBERS;
    numbers[n + N.fromUs] = a.fromUs;
    numbers[n + N.toUs] = a.toUs;
    numbers[n + N.dbBytes] = a.dbBytes;
    numbers[n + N.journalBytes] = a.journalBytes;
    numbers[n + N.walBytes] = a.walBytes;
    for (let p = 0; p < PARTS.length; p++) numbers[n + N.time + p] = a.time[PARTS[p]!];
    const k = i * INTEGERS;
    integers[k + I.mode] = MODES.indexOf(a.mode);
    integers[k + I.beginStatementRow] = a.beginStatementRow;
    integers[k + I.endStatementRow] = a.endStatementRow;
    integers[k + I.statements] = a.statements ?? -1;
    integers[k + I.pagesRead] = a.pagesRead;
    integers[k + I.pagesWritten] = a.pagesWritten ?? -1;
    integers[k + I.syncs] = a.syncs;
    integers[k + I.busyRetries] = a.busyRetries;
    integers[k + I.commit] = a.commit ? this.commits.used : -1;
    if (a.commit) {
      this.commits.push(a.commit.fromUs);
      this.commits.push(a.commit.toUs);
      for (const part of PARTS) this.commits.push(a.commit.time[part]);
    }
    integers[k + I.steps] = this.steps.used;
    for (let level = 0; level < a.ladder.length; level++) {
      const step = a.ladder[level];
      if (!step) continue;
      this.steps.push(level);
      this.steps.push(step.askedUs);
      this.steps.push(step.grantedUs ?? NaN);
      this.steps.push(step.leftUs ?? NaN);
      this.steps.push(step.busy);
    }
    integers[k + I.statementRows] = this.statements.used;
    for (const row of a.statementRows) this.statements.push(row);
  }

  fromUs(i: number): number {
    return this.numbers[i * NUMBERS + N.fromUs]!;
  }
  durationUs(i: number): number {
    return this.numbers[i * NUMBERS + N.toUs]! - this.numbers[i * NUMBERS + N.fromUs]!;
  }
  /** Rows of the first calls of the executions inside it. */
  statementRows(i: number): Uint32Array {
    return this.statements.values.subarray(this.startOf(i, I.statementRows), this.endOf(i, I.statementRows, this.statements));
  }

  /** All commits together: how many, from begin to end of each, and by part; microseconds. */
  commitTotals(): CommitTotals {
    const { values, used } = this.commits;
    const totals = { commits: used / COMMIT_NUMBERS, spanUs: 0, time: timesAt(NO_TIMES, 0) };
    for (let at = 0; at < used; at += COMMIT_NUMBERS) {
      totals.spanUs += values[at + 1]! - values[at]!;
      for (let p = 0; p < PARTS.length; p++) totals.time[PARTS[p]!] += values[at + 2 + p]!;
    }
    return totals;
  }

  at(i: number): TransactionAnatomy {
    const { numbers, integers } = this;
    const n = i * NUMBERS;
    const k = i * INTEGERS;
    const orNull = (value: number): number | null => (value < 0 ? null : value);
    return {
      transaction: this.transactions[i]!,
      fromUs: numbers[n + N.fromUs]!,
      toUs: numbers[n + N.toUs]!,
      ladder: this.ladder(i),
      mode: MODES[integers[k + I.mode]!]!,
      beginStatementRow: integers[k + I.beginStatementRow]!,
      endStatementRow: integers[k + I.endStatementRow]!,
      statements: orNull(integers[k + I.statements]!),
      statementRows: [...this.statementRows(i)],
      pagesRead: integers[k + I.pagesRead]!,
      pagesWritten: orNull(integers[k + I.pagesWritten]!),
      dbBytes: numbers[n + N.dbBytes]!,
      journalBytes: numbers[n + N.journalBytes]!,
      walBytes: numbers[n + N.walBytes]!,
      syncs: integers[k + I.syncs]!,
      busyRetries: integers[k + I.busyRetries]!,
      time: timesAt(numbers, n + N.time),
      commit: this.commit(integers[k + I.commit]!),
    };
  }

  /** Each as an object that lives as long as it is looked at. */
  *[Symbol.iterator](): Generator<TransactionAnatomy> {
    for (let i = 0; i < this.length; i++) yield this.at(i);
  }

  private commit(at: number): TransactionAnatomy['commit'] {
    if (at < 0) return null;
    const { values } = this.commits;
    return { fromUs: values[at]!, toUs: values[at + 1]!, time: timesAt(values, at + 2) };
  }

  private ladder(i: number): (LadderStep | null)[] {
    const { values } = this.steps;
    const ladder: (LadderStep | null)[] = [null, null, null, null, null];
    const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);
    for (let s = this.startOf(i, I.steps), end = this.endOf(i, I.steps, this.steps); s < end; s += STEP_NUMBERS)
      ladder[values[s]!] = {
        askedUs: values[s + 1]!,
        grantedUs: orNull(values[s + 2]!),
        leftUs: orNull(values[s + 3]!),
        busy: values[s + 4]!,
      };
    return ladder;
  }

  private startOf(i: number, what: number): number {
    return this.integers[i * INTEGERS + what]!;
  }
  private endOf(i: number, what: number, pool: Pool<Float64Array | Uint32Array>): number {
    return i + 1 < this.length ? this.startOf(i + 1, what) : pool.used;
  }
}

function timesAt(values: Float64Array, at: number): TransactionTimes {
  const times = {} as TransactionTimes;
  for (let p = 0; p < PARTS.length; p++) times[PARTS[p]!] = values[at + p]!;
  return times;
}
