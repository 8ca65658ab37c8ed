/**
 * Disjoint intervals in time order, each of one of eight kinds, with sampled running totals: how much time of each kind lies
 * before a moment is a bisection and a short scan, whatever the number of intervals. Sums are whole nanoseconds, so exact.
 */

/** Kinds an interval can have: 0..7. */
export const KINDS = 8;
const SAMPLE_SHIFT = 5;
const SAMPLE = 1 << SAMPLE_SHIFT;

type Column = Float64Array | Uint32Array | Uint8Array;
function grown<T extends Column>(from: T, length: number): T {
  if (length <= from.length) return from;
  const to = new (from.constructor as new (n: number) => T)(Math.max(length, from.length + (from.length >>> 1)));
  to.set(from);
  return to;
}
/** Nanoseconds that 4 bytes hold: 4.29 s. */
const MAX_SHORT = 0xffffffff;

export class IntervalIndex {
  count = 0;
  /** Nanoseconds since the first interval of the same sample began; ascending within it. Wide once one does not fit. */
  private since: Uint32Array | Float64Array = new Uint32Array(64);
  private lengths: Uint32Array | Float64Array = new Uint32Array(64);
  kind = new Uint8Array(64);
  /** The event that the interval shows. */
  row = new Uint32Array(64);
  /** Totals before interval i * SAMPLE, by kind; brought up to date when asked. */
  private times = new Float64Array(64 * KINDS);
  private counts = new Uint32Array(64 * KINDS);
  private starts = new Float64Array(64);
  private sampled = 0;

  /** Nanoseconds since the trace began; ascending. */
  startOf(i: number): number {
    return this.starts[i >>> SAMPLE_SHIFT]! + this.since[i]!;
  }
  /** Nanoseconds; 0 = an instant. An interval ends before or where the next one begins. */
  lengthOf(i: number): number {
    return this.lengths[i]!;
  }
  endOf(i: number): number {
    return this.startOf(i) + this.lengths[i]!;
  }

  clear(): void {
    this.count = 0;
    this.sampled = 0;
  }

  /** Append an interval; it must not begin before the last one ended. */
  push(start: number, length: number, kind: number, row: number): void {
    const i = this.count++;
    if (i >= this.kind.length) {
      this.since = grown(this.since, i + 1);
      this.lengths = grown(this.lengths, i + 1);
      this.kind = grown(this.kind, i + 1);
      this.row = grown(this.row, i + 1);
    }
    if ((i & (SAMPLE - 1)) === 0) this.sample(i >>> SAMPLE_SHIFT, start);
    const since = start - this.starts[i >>> SAMPLE_SHIFT]!;
    if (since > MAX_SHORT && this.since instanceof Uint32Array) this.since = new Float64Array(this.since);
    if (length > MAX_SHORT && this.lengths instanceof Uint32Array) this.lengths = new Float64Array(this.lengths);
    this.since[i] = since;
    this.lengths[i] = length;
    this.kind[i] = kind;
    this.row[i] = row;
  }

  /** Give back room that is not used: nothing more is expected. */
  trim(): void {
    const n = Math.max(1, this.count);
    this.since = this.since.slice(0, n);
    this.lengths = this.lengths.slice(0, n);
    this.kind = this.kind.slice(0, n);
    this.row = this.row.slice(0, n);
  }

  private sample(s: number, start: number): void {
    this.starts = grown(this.starts, s + 1); // each by its own length: half as much again is not always a whole sample
    this.times = grown(this.times, (s + 1) * KINDS);
    this.counts = grown(this.counts, (s + 1) * KINDS);
    this.starts[s] = start;
    const to = s * KINDS;
    if (s === 0) {
      this.times.fill(0, 0, KINDS);
      this.counts.fill(0, 0, KINDS);
    } else {
      this.times.copyWithin(to, to - KINDS, to);
      this.counts.copyWithin(to, to - KINDS, to);
      for (let i = (s - 1) * SAMPLE; i < s * SAMPLE; i++) {
        this.times[to + this.kind[i]!]! += this.lengths[i]!;
        this.counts[to + this.kind[i]!]!++;
      }
    }
    this.sampled = s + 1;
  }

  /** Number of intervals that begin before `ns`. @param from a lower bound already known */
  before(ns: number, from = 0): number {
    let lo = from >>> SAMPLE_SHIFT;
    let hi = this.sampled;
    for (let step = 1; lo + step < hi; step *= 2)
      if (this.starts[lo + step]! >= ns) {
        hi = lo + step;
        break;
      } else lo += step; // gallop: the next boundary of a frame is near
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if (this.starts[mid]! < ns) lo = mid + 1;
      else hi = mid;
    }
    lo = lo ? (lo - 1) << SAMPLE_SHIFT : 0;
    hi = Math.min(lo + SAMPLE, this.count);
    const since = ns - this.starts[lo >>> SAMPLE_SHIFT]!;
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if (this.since[mid]! < since) lo = mid + 1;
      else hi = mid;
    }
    return lo;
  }

  /** A cursor for moments in ascending order. */
  cursor(): TotalsCursor {
    return new TotalsCursor(this);
  }

  /** Totals of the intervals before `index`: nanoseconds and number by kind, put into the arrays. */
  totals(index: number, times: Float64Array, counts: Float64Array): void {
    times.fill(0);
    counts.fill(0);
    if (index === 0) return;
    const s = Math.min(index >>> SAMPLE_SHIFT, this.sampled - 1);
    const at = s * KINDS;
    for (let k = 0; k < KINDS; k++) {
      times[k] = this.times[at + k]!;
      counts[k] = this.counts[at + k]!;
    }
    this.addUp(s * SAMPLE, index, times, counts);
  }

  /** Add up the intervals [from, to) one by one. */
  addUp(from: number, to: number, times: Float64Array, counts: Float64Array): void {
    const { kind, lengths } = this;
    for (let i = from; i < to; i++) {
      const k = kind[i]!;
      times[k]! += lengths[i]!;
      counts[k]!++;
    }
  }
}

/** Running totals at ascending moments: what was added up for one boundary of a frame serves the next. */
export class TotalsCursor {
  /** Number of intervals that begin before the moment. */
  index = 0;
  private readonly times = new Float64Array(KINDS);
  private readonly counts = new Float64Array(KINDS);

  constructor(private readonly of: IntervalIndex) {}

  /** Go to `ns` and add the totals before it, an interval that spans it in part. */
  add(ns: number, times: Float64Array, counts: Float64Array): void {
    const { of } = this;
    const index = of.before(ns, this.index);
    if (index === 0) return;
    if (index - this.index <= SAMPLE) of.addUp(this.index, index, this.times, this.counts);
    else of.totals(index, this.times, this.counts);
    this.index = index;
    for (let k = 0; k < KINDS; k++) {
      times[k]! += this.times[k]!;
      counts[k]! += this.counts[k]!;
    }
    const last = index - 1;
    const over = of.endOf(last) - ns;
    if (over > 0) times[of.kind[last]!]! -= over;
  }
}
