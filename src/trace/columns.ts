/**
 * The columns of one thread's events: typed arrays that grow by doubling. Columns whose numbers are mostly small begin narrow (36 bytes
 * an event together) and are widened when a number comes that they cannot hold exactly (58 bytes, 62 with `aux2`), so a reader
 * always finds what was written. Write those by `set`.
 */
import { resized } from './resized.ts';

export interface EventRow {
  t0: number;
  dur: number;
  seq: number;
  endSeq: number;
  op: number;
  flags: number;
  result: number;
  offset: number;
  length: number;
  object: number;
  parent: number;
  context: number;
  aux: number;
  aux2: number;
}

type Signed = Int8Array | Int16Array | Int32Array;
type Unsigned = Uint8Array | Uint16Array | Uint32Array;
type Real = Float32Array | Float64Array;
type Column = Signed | Unsigned | Real;
/** Columns that begin narrow. */
export type NarrowColumn =
  'dur' | 'result' | 'offset' | 'length' | 'object' | 'context' | 'aux' | 'aux2';

const NARROW: readonly NarrowColumn[] = [
  'dur',
  'result',
  'offset',
  'length',
  'object',
  'context',
  'aux',
  'aux2',
];
const COLUMNS = [
  't0',
  'dur',
  'seq',
  'endSeq',
  'op',
  'flags',
  'result',
  'offset',
  'length',
  'object',
  'parent',
  'context',
  'aux',
] as const;
const COLUMNS_T0_LAST = [...COLUMNS.slice(1), 't0'] as const;

export class EventColumns {
  /** Rows in use; the arrays are longer. */
  count = 0;
  /** Microseconds since the trace began; ascending. */
  t0: Float64Array;
  /** Microseconds; 0 while the call is still running (endSeq = 0). */
  dur: Real;
  /** Sequence number at the begin; strictly ascending. */
  seq: Uint32Array;
  /** Sequence number at the end; 0 = the end was not seen. */
  endSeq: Uint32Array;
  op: Uint8Array;
  flags: Uint8Array;
  result: Signed;
  offset: Real;
  length: Unsigned;
  object: Unsigned;
  parent: Uint32Array;
  context: Unsigned;
  aux: Unsigned;
  /** Empty until a row needs it. */
  aux2: Unsigned;

  /** @param width 'wide' for rows on their way: every column holds any number, without `set` */
  constructor(capacity = 1024, width: 'narrow' | 'wide' = 'wide') {
    const wide = width === 'wide';
    this.t0 = new Float64Array(capacity);
    this.dur = wide ? new Float64Array(capacity) : new Float32Array(capacity);
    this.seq = new Uint32Array(capacity);
    this.endSeq = new Uint32Array(capacity);
    this.op = new Uint8Array(capacity);
    this.flags = new Uint8Array(capacity);
    this.result = wide ? new Int32Array(capacity) : new Int8Array(capacity);
    this.offset = wide ? new Float64Array(capacity) : new Float32Array(capacity);
    this.length = wide ? new Uint32Array(capacity) : new Uint16Array(capacity);
    this.object = wide ? new Uint32Array(capacity) : new Uint8Array(capacity);
    this.parent = new Uint32Array(capacity);
    this.context = wide ? new Uint32Array(capacity) : new Uint8Array(capacity);
    this.aux = wide ? new Uint32Array(capacity) : new Uint8Array(capacity);
    this.aux2 = wide ? new Uint32Array(0) : new Uint8Array(0);
  }

  /** Rows that fit without growing. */
  get capacity(): number {
    return this.t0.length;
  }

  /** Bytes of all columns, room that is not used yet included. */
  get bytes(): number {
    return COLUMNS.reduce((n, name) => n + this[name].byteLength, this.aux2.byteLength);
  }

  /** Make room for `rows` more rows: by doubling, or for these and no others. */
  reserve(rows: number, exactly = false): void {
    const needed = this.count + rows;
    if (needed <= this.capacity) return;
    let capacity = Math.max(1024, this.capacity);
    while (capacity < needed) capacity *= 2;
    this.grow(exactly ? needed : capacity);
  }

  /**
   * Column by column, so that the outgrown ones can be collected. `t0`, which says the capacity, is the last: where the browser has no more
   * memory, all rows are still there, and the next try goes on.
   */
  private grow(capacity: number): void {
    if (this.aux2.length && this.aux2.length < capacity)
      this.aux2 = moved(this.aux2, capacity, 0, this.count);
    for (const name of COLUMNS_T0_LAST)
      if (this[name].length < capacity)
        this[name] = moved(this[name] as Column, capacity, 0, this.count) as never;
  }

  /** Forget all rows and give the memory back at once: nobody else may hold a column. */
  release(): void {
    for (const name of COLUMNS) this[name] = resized(this[name], 0) as never;
    this.aux2 = resized(this.aux2, 0);
    this.count = 0;
  }

  /** Put every column into arrays of another length, rows [from, to) at their begin: all of them, or none. */
  private resize(capacity: number, from: number, to: number): void {
    const next = COLUMNS.map((name) => moved(this[name] as Column, capacity, from, to));
    if (this.aux2.length) this.aux2 = moved(this.aux2, capacity, from, to);
    COLUMNS.forEach((name, i) => (this[name] = next[i] as never));
  }

  /** Write a number into a column that begins narrow. Values are those that the wide column holds. */
  set(name: NarrowColumn, row: number, value: number): void {
    if (name === 'aux2' && !this.aux2.length) {
      if (value === 0) return;
      this.aux2 = like(this.aux2, this.capacity);
    }
    for (;;) {
      const column = this[name];
      column[row] = value;
      if (Object.is(column[row], value) || column[row] === value || isWide(column)) return;
      this[name] = wider(column) as never;
    }
  }

  /** Append all rows of `other`, which must begin at or after the last one here. */
  append(other: EventColumns): void {
    this.reserve(other.count);
    const at = this.count;
    const n = other.count;
    for (const name of NARROW) {
      const from = other[name].subarray(0, n);
      if (!from.length) {
        this[name].fill(0, at, at + n); // `aux2`, which the other does not have
        continue;
      }
      if (name === 'aux2' && !this.aux2.length) this.aux2 = like(this.aux2, this.capacity);
      while (!put(this[name], from, at)) this[name] = wider(this[name]) as never;
    }
    this.t0.set(other.t0.subarray(0, n), at);
    this.seq.set(other.seq.subarray(0, n), at);
    this.endSeq.set(other.endSeq.subarray(0, n), at);
    this.op.set(other.op.subarray(0, n), at);
    this.flags.set(other.flags.subarray(0, n), at);
    this.parent.set(other.parent.subarray(0, n), at);
    const last = at ? this.t0[at - 1]! : -Infinity;
    for (let i = at; i < at + n && this.t0[i]! < last; i++) this.t0[i] = last; // a damaged file must not break the order
    this.count = at + n;
  }

  /** Drop the first `rows` rows: what remains moves to the front. Room that is not needed any more is given back. */
  dropFront(rows: number): void {
    const from = Math.min(rows, this.count);
    if (from <= 0) return;
    const left = this.count - from;
    let { capacity } = this;
    while (capacity > 1024 && capacity >= 4 * left) capacity = Math.floor(capacity / 2);
    if (capacity === this.capacity || !this.shrink(capacity, from, from + left)) {
      for (const name of COLUMNS) this[name].copyWithin(0, from, from + left);
      this.aux2.copyWithin(0, from, from + left);
    }
    this.aux2.fill(0, left); // written where a row needs it only
    this.count = left;
  }

  /** @returns false where there is no memory for the smaller columns beside the old ones: all is as it was */
  private shrink(capacity: number, from: number, to: number): boolean {
    try {
      this.resize(capacity, from, to);
      return true;
    } catch {
      return false;
    }
  }

  row(i: number): EventRow {
    if (i < 0 || i >= this.count) throw new RangeError(`row ${i} of ${this.count}`);
    return {
      t0: this.t0[i]!,
      dur: this.dur[i]!,
      seq: this.seq[i]!,
      endSeq: this.endSeq[i]!,
      op: this.op[i]!,
      flags: this.flags[i]!,
      result: this.result[i]!,
      offset: this.offset[i]!,
      length: this.length[i]!,
      object: this.object[i]!,
      parent: this.parent[i]!,
      context: this.context[i]!,
      aux: this.aux[i]!,
      aux2: this.aux2[i] ?? 0,
    };
  }

  /** Row of the call that began with this sequence number, or -1. */
  rowOfSeq(seq: number): number {
    let lo = 0;
    let hi = this.count - 1;
    while (lo <= hi) {
      const mid = (lo + hi) >>> 1;
      const s = this.seq[mid]!;
      if (s === seq) return mid;
      if (s < seq) lo = mid + 1;
      else hi = mid - 1;
    }
    return -1;
  }

  /** First row that begins at or after `us`. */
  lowerBound(us: number): number {
    let lo = 0;
    let hi = this.count;
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if (this.t0[mid]! < us) lo = mid + 1;
      else hi = mid;
    }
    return lo;
  }
}

/** Rows [from, to) of a column at the begin of one of another length. */
function moved<T extends Column>(column: T, capacity: number, from: number, to: number): T {
  const next = like(column, capacity);
  next.set(column.subarray(from, to));
  return next;
}
const like = <T extends Column>(column: T, length: number): T =>
  new (column.constructor as new (n: number) => T)(length);

const WIDER = new Map<unknown, new (from: Column) => Column>([
  [Int8Array, Int16Array],
  [Int16Array, Int32Array],
  [Uint8Array, Uint16Array],
  [Uint16Array, Uint32Array],
  [Float32Array, Float64Array],
]);
const isWide = (column: Column): boolean => !WIDER.has(column.constructor);
const wider = (column: Column): Column => new (WIDER.get(column.constructor)!)(column);

/** Put numbers into a column. @returns false for a narrow column that cannot hold all of them exactly */
function put(column: Column, values: Column, at: number): boolean {
  if (column instanceof Float32Array && values instanceof Float64Array)
    return putReals(column, values, at);
  if (!isWide(column) && column.constructor !== values.constructor) {
    const signed = column instanceof Int8Array || column instanceof Int16Array;
    if (
      bitsOf(values as Int32Array | Uint32Array) >>>
        (8 * column.BYTES_PER_ELEMENT - (signed ? 1 : 0)) !==
      0
    )
      return false;
  }
  column.set(values, at);
  return true;
}
function putReals(column: Float32Array, values: Float64Array, at: number): boolean {
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    column[at + i] = value;
    if (column[at + i] !== value && value === value) return false;
  }
  return true;
}

/** Every bit that one of the numbers has; of a negative one those that tell it from -1. */
function bitsOf(values: Int32Array | Uint32Array): number {
  let bits = 0;
  if (values instanceof Uint32Array) for (let i = 0; i < values.length; i++) bits |= values[i]!;
  else for (let i = 0; i < values.length; i++) bits |= values[i]! ^ (values[i]! >> 31);
  return bits;
}
