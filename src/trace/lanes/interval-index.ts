/**
 * Disjoint intervals in time order, each of one of nine kinds, with sampled running totals. The
 * time of each kind before a moment takes a bisection and a short scan, for any number of
 * intervals. Sums are whole nanoseconds, so they are exact. Frames use totals-cursor.ts to go
 * through it.
 */
import { resized } from '../typed-arrays.ts';

/** Kinds an interval can have: activities, or parts of the time while SQL runs. */
export const KINDS = 9;
const SAMPLE_SHIFT = 5;
export const SAMPLE = 1 << SAMPLE_SHIFT;

type Column = Float64Array | Uint32Array | Int16Array | Uint8Array;
/**
 * Spare capacity as a share of the expected length. Unused capacity up to this share isn't worth a
 * copy.
 */
const SPARE_SHIFT = 4;
/** @param expected final length, 0 = not known */
const grown = <T extends Column>(from: T, length: number, expected: number): T => {
  if (length <= from.length) return from;
  const more =
    expected > from.length
      ? expected
      : from.length + (from.length >>> (expected ? SPARE_SHIFT : 1));
  return resized(from, Math.max(length, more));
};
/** Place of a kind that hasn't occurred. */
const NOWHERE = 255;
/** Nanoseconds that 4 bytes hold: 4.29 s. */
const MAX_SHORT = 0xffffffff;

export class IntervalIndex {
  count = 0;
  /**
   * Nanoseconds since the first interval of the same sample began; ascending within it. Becomes
   * wide when one doesn't fit.
   */
  private since: Uint32Array | Float64Array = new Uint32Array(64);
  private lengths: Uint32Array | Float64Array = new Uint32Array(64);
  kind = new Uint8Array(64);
  /** A bit for each kind that has occurred. */
  private seen = 0;
  /**
   * The event that the interval shows, relative to the first one of its sample, or absolute once
   * that doesn't fit. Empty if intervals don't show events.
   */
  private rows: Int16Array | Uint32Array;
  private firstRows: Uint32Array;
  private starts = new Float64Array(64);
  /**
   * Totals before interval i * SAMPLE, one after the other, of the kinds that have occurred: most
   * lanes have three or four of the nine.
   */
  private times = new Float64Array(0);
  /** Each kind's place among the totals, and how many kinds there are. */
  private readonly places = new Uint8Array(KINDS).fill(NOWHERE);
  private stride = 0;
  private sampled = 0;
  /** Capacity to allocate at once when more is needed; 0 = gradually. */
  private room = 0;

  /** @param rows false: the intervals don't show events */
  constructor(private readonly withRows = true) {
    this.rows = new Int16Array(withRows ? 64 : 0);
    this.firstRows = new Uint32Array(withRows ? 64 : 0);
  }

  /** Bytes in use, without spare capacity. */
  get bytes(): number {
    const { since, lengths, rows, firstRows, starts, times } = this;
    const each =
      since.BYTES_PER_ELEMENT +
      lengths.BYTES_PER_ELEMENT +
      1 +
      (rows.length ? rows.BYTES_PER_ELEMENT : 0);
    const sample =
      starts.BYTES_PER_ELEMENT +
      (firstRows.length ? firstRows.BYTES_PER_ELEMENT : 0) +
      this.stride * times.BYTES_PER_ELEMENT;
    return this.count * each + this.sampled * sample;
  }

  /** The event that an interval shows: its row. */
  rowOf(i: number): number {
    const { rows } = this;
    return rows instanceof Int16Array ? this.firstRows[i >>> SAMPLE_SHIFT]! + rows[i]! : rows[i]!;
  }

  /** Nanoseconds since the trace began; ascending. */
  startOf(i: number): number {
    return this.starts[i >>> SAMPLE_SHIFT]! + this.since[i]!;
  }
  /** An interval ends at or before the begin of the next one; an instant ends where it begins. */
  endOf(i: number): number {
    return this.startOf(i) + this.lengths[i]!;
  }

  clear(): void {
    this.count = 0;
    this.sampled = 0;
    this.seen = 0;
  }

  /** The kinds that have occurred, ascending. */
  get kinds(): number[] {
    return Array.from({ length: KINDS }, (_, kind) => kind).filter(
      (kind) => this.seen & (1 << kind),
    );
  }

  /** Append an interval; it must not begin before the last one ended. */
  push(start: number, length: number, kind: number, row: number): void {
    const i = this.count++;
    if (this.places[kind] === NOWHERE) this.addKind(kind);
    if (i >= this.kind.length) {
      const { room } = this;
      this.since = grown(this.since, i + 1, room);
      this.lengths = grown(this.lengths, i + 1, room);
      this.kind = grown(this.kind, i + 1, room);
      if (this.withRows) this.rows = grown(this.rows, i + 1, room);
    }
    if ((i & (SAMPLE - 1)) === 0) this.sample(i >>> SAMPLE_SHIFT, start, row);
    const since = start - this.starts[i >>> SAMPLE_SHIFT]!;
    if (since > MAX_SHORT && this.since instanceof Uint32Array)
      this.since = new Float64Array(this.since);
    if (length > MAX_SHORT && this.lengths instanceof Uint32Array)
      this.lengths = new Float64Array(this.lengths);
    this.since[i] = since;
    this.lengths[i] = length;
    this.kind[i] = kind;
    this.seen |= 1 << kind;
    if (this.withRows) this.putRow(i, row);
  }

  private putRow(i: number, row: number): void {
    if (this.rows instanceof Int16Array) {
      const from = row - this.firstRows[i >>> SAMPLE_SHIFT]!;
      if ((from << 16) >> 16 === from) {
        this.rows[i] = from;
        return;
      }
      const wide = new Uint32Array(this.rows.length);
      for (let k = 0; k < i; k++) wide[k] = this.rowOf(k);
      this.rows = wide;
      this.firstRows = new Uint32Array(0);
    }
    this.rows[i] = row;
  }

  /** About this many will come: memory is allocated at once, which avoids copies while growing. */
  expect(count: number): void {
    this.room = count + (count >>> SPARE_SHIFT);
  }

  /**
   * No more will come: release unused memory, unless it is so little that copying the rest costs
   * more.
   */
  trim(): void {
    this.room = 0;
    const n = Math.max(1, this.count);
    if (this.kind.length - n <= n >>> (SPARE_SHIFT - 1)) return;
    this.since = resized(this.since, n);
    this.lengths = resized(this.lengths, n);
    this.kind = resized(this.kind, n);
    if (this.withRows) this.rows = resized(this.rows, n);
    const samples = Math.max(1, this.sampled);
    if (this.firstRows.length) this.firstRows = resized(this.firstRows, samples);
    this.starts = resized(this.starts, samples);
    this.times = resized(this.times, samples * this.stride);
  }

  /** Add a kind to the totals. */
  private addKind(kind: number): void {
    const { times, stride } = this;
    const wider = new Float64Array(this.starts.length * (stride + 1));
    for (let s = 0; s < this.sampled; s++)
      wider.set(times.subarray(s * stride, (s + 1) * stride), s * (stride + 1));
    this.places[kind] = stride;
    this.stride = stride + 1;
    this.times = wider;
  }

  private sample(s: number, start: number, row: number): void {
    const room = Math.ceil(this.room / SAMPLE);
    const { stride, places } = this;
    if (s >= this.starts.length) {
      this.starts = grown(this.starts, s + 1, room);
      this.times = resized(this.times, this.starts.length * stride);
    }
    this.starts[s] = start;
    if (this.withRows && this.rows instanceof Int16Array) {
      this.firstRows = grown(this.firstRows, s + 1, room);
      this.firstRows[s] = row;
    }
    const to = s * stride;
    if (s === 0) this.times.fill(0, 0, stride);
    else {
      this.times.copyWithin(to, to - stride, to);
      for (let i = (s - 1) * SAMPLE; i < s * SAMPLE; i++)
        this.times[to + places[this.kind[i]!]!]! += this.lengths[i]!;
    }
    this.sampled = s + 1;
  }

  /**
   * The last sample that begins before `ns`, -1 = none.
   * @param from one that does, or 0: where to start the search
   */
  sampleBefore(ns: number, from: number): number {
    const { starts } = this;
    let lo = from;
    let hi = this.sampled;
    for (let step = 1; lo + step < hi; step *= 2)
      if (starts[lo + step]! >= ns) {
        hi = lo + step;
        break;
      } else lo += step; // gallop, because the next boundary of a frame is near
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if (starts[mid]! < ns) lo = mid + 1;
      else hi = mid;
    }
    return lo - 1;
  }

  /** Begin of a sample's first interval, nanoseconds; Infinity after the last sample. */
  sampleStart(s: number): number {
    return s < this.sampled ? this.starts[s]! : Infinity;
  }

  /** Number of intervals that begin before `ns`. @param s the result of `sampleBefore` */
  beforeIn(s: number, ns: number): number {
    if (s < 0) return 0;
    let lo = s << SAMPLE_SHIFT;
    let hi = Math.min(lo + SAMPLE, this.count);
    const { since } = this;
    const wanted = ns - this.starts[s]!;
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if (since[mid]! < wanted) lo = mid + 1;
      else hi = mid;
    }
    return lo;
  }

  /** Number of intervals that begin before `ns`. */
  before(ns: number): number {
    return this.beforeIn(this.sampleBefore(ns, 0), ns);
  }

  /**
   * Put nanoseconds by kind of the intervals before `index` into the array.
   * @param kinds only these
   */
  totals(index: number, times: Float64Array, kinds: readonly number[] = this.kinds): void {
    if (index === 0) {
      times.fill(0);
      return;
    }
    const { times: totals, places, stride } = this;
    const nearest = Math.min((index + SAMPLE / 2) >>> SAMPLE_SHIFT, this.sampled - 1);
    const at = nearest * stride;
    for (let i = 0; i < kinds.length; i++) {
      const k = kinds[i]!;
      times[k] = totals[at + places[k]!]!;
    }
    this.addUp(nearest * SAMPLE, index, times);
  }

  /**
   * The same for a position within a sample that isn't the last, by the share of the sample before
   * it.
   */
  totalsWithin(s: number, share: number, times: Float64Array, kinds: readonly number[]): void {
    const { times: totals, stride, places } = this;
    const at = s * stride;
    for (let i = 0; i < kinds.length; i++) {
      const k = kinds[i]!;
      const place = at + places[k]!;
      const before = totals[place]!;
      times[k] = before + Math.floor(share * (totals[place + stride]! - before) + 0.5);
    }
  }

  /** Add the intervals [from, to) one by one, or subtract those of [to, from). */
  addUp(from: number, to: number, times: Float64Array): void {
    const { kind, lengths } = this;
    for (let i = from; i < to; i++) times[kind[i]!]! += lengths[i]!;
    for (let i = to; i < from; i++) times[kind[i]!]! -= lengths[i]!;
  }

  /** Add the number of the intervals [from, to) by kind to the array. */
  countKinds(from: number, to: number, counts: Float64Array): void {
    const { kind } = this;
    for (let i = from; i < to; i++) counts[kind[i]!]!++;
  }
}
