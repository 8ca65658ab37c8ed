/**
 * The columns of one thread's events: 37 bytes an event while its numbers are small, at most 62.
 */
import { columns, lowerBound } from './number-columns.ts';

const EVENT = {
  /** Microseconds since the trace began; ascending. */
  t0: Float64Array,
  /** Microseconds; 0 while the call is still running (endSeq = 0). */
  dur: [Float32Array, Float64Array],
  /** Sequence number at the begin; strictly ascending. */
  seq: Uint32Array,
  /** Sequence number at the end; 0 = the end was not seen. */
  endSeq: Uint32Array,
  op: Uint8Array,
  flags: Uint8Array,
  result: [Int8Array, Int32Array],
  offset: [Float32Array, Float64Array],
  length: [Uint16Array, Uint32Array],
  object: [Uint8Array, Uint32Array],
  parent: Uint32Array,
  context: [Uint8Array, Uint32Array],
  aux: [Uint8Array, Uint32Array],
  aux2: [Uint8Array, Uint32Array],
} as const;
export type EventRow = Record<keyof typeof EVENT, number>;
/**
 * 'narrow': columns start with small number types, which takes less memory. 'wide': each column has
 * one type for all values, so code that reads many short traces is compiled once.
 */
export type ColumnWidth = 'narrow' | 'wide';
/** Columns that begin narrow. */
export type NarrowColumn = Parameters<EventColumns['set']>[0];

export class EventColumns extends columns(EVENT) {
  /** @param width 'wide' for rows in transit: every column holds any number, without `set` */
  constructor(capacity = 1024, width: ColumnWidth = 'wide') {
    super(capacity, width);
  }

  /** Adds rows, which must not begin before the last one here. */
  override append(other: this): void {
    const at = this.count;
    super.append(other);
    const last = at ? this.t0[at - 1]! : -Infinity;
    // a damaged file must not break the order
    for (let i = at; i < this.count && this.t0[i]! < last; i++) this.t0[i] = last;
  }

  row(i: number): EventRow {
    if (i < 0 || i >= this.count) throw new RangeError(`row ${i} of ${this.count}`);
    return this.numbers(i);
  }

  /** Row of the call that began with this sequence number, or -1. */
  rowOfSeq(seq: number): number {
    const row = lowerBound(this.seq, seq, this.count);
    return row < this.count && this.seq[row] === seq ? row : -1;
  }

  /**
   * Row of the call that `row` serves, or -1. It is earlier, usually only a little: the search goes
   * back in steps that double.
   */
  parentRow(row: number): number {
    const { seq, parent } = this;
    const wanted = parent[row]!;
    if (wanted === 0 || row === 0) return -1;
    let hi = row;
    let lo = row - 1;
    for (let step = 1; lo > 0 && seq[lo]! > wanted; step *= 2) {
      hi = lo;
      lo = Math.max(0, lo - step);
    }
    const at = lowerBound(seq, wanted, hi, lo);
    return at < row && seq[at] === wanted ? at : -1;
  }

  /** Whether a call is the other one, or was made for it. */
  serves(row: number, other: number): boolean {
    let at = row;
    while (at > other) at = this.parentRow(at);
    return at === other;
  }

  /** First row that begins at or after `us`. @param from a row before which none does */
  lowerBound(us: number, from = 0): number {
    return lowerBound(this.t0, us, this.count, from);
  }
}
