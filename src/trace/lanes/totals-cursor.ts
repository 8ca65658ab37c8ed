/**
 * Running totals of an IntervalIndex at ascending moments: sums for one boundary of a frame are
 * reused for the next. If a frame's columns hold many intervals, a boundary that falls into a
 * sample much shorter than a column isn't searched among the sample's intervals. Instead it takes
 * the share of the sample's totals that its time has before the boundary. The error is at most a
 * quarter of the sample's span, and this reads three cache lines instead of ten. A sample with a
 * gap isn't short.
 */
import { KINDS, SAMPLE, type IntervalIndex } from './interval-index.ts';

/**
 * Share of a column up to which a sample is short. A boundary's error is a quarter of it, a 32nd of
 * the column's time, in the worst case of uneven intervals.
 */
const COARSE = 1 / 8;

/** Cursors of the indexes that aren't empty. @param step a column's time, nanoseconds */
export const cursorsOf = (indexes: readonly IntervalIndex[], step: number): TotalsCursor[] =>
  indexes.flatMap((index) => (index.count > 0 ? [new TotalsCursor(index, step * COARSE)] : []));

export class TotalsCursor {
  /**
   * Number of intervals that begin before the moment; only to within a sample if that wasn't
   * searched.
   */
  index = 0;
  /** `index` and the totals are exact to the interval. */
  exact = true;
  /** The index's kinds: totals of others are 0. */
  readonly kinds: readonly number[];
  /**
   * Totals before this moment, including part of an interval that spans it, and those before the
   * previous moment.
   */
  now = new Float64Array(KINDS);
  before = new Float64Array(KINDS);
  private sample = 0;
  /** Totals before `index`. */
  private readonly times = new Float64Array(KINDS);
  /**
   * End, in nanoseconds, and kind of the interval before `index`. They and `nextNs` are invalid if
   * not exact.
   */
  lastNs = -Infinity;
  private lastKind = 0;
  /** Begin of the interval at `index`. */
  private nextNs: number;

  /** @param coarseNs samples that span no more than this aren't searched */
  constructor(
    readonly of: IntervalIndex,
    private readonly coarseNs = 0,
  ) {
    this.kinds = of.kinds;
    this.nextNs = this.beginOf(0);
  }

  /** Move on to a later moment. */
  moveTo(ns: number): void {
    const now = this.before;
    this.before = this.now;
    this.now = now;
    // else the same intervals as last time, like most columns of a close zoom
    if ((!this.exact || ns > this.nextNs) && !this.find(ns, now)) return;
    const { kinds, times } = this;
    for (let i = 0; i < kinds.length; i++) now[kinds[i]!] = times[kinds[i]!]!;
    const over = this.lastNs - ns;
    if (over > 0) now[this.lastKind]! -= over;
  }

  /** @returns whether `times` are exact to the interval; else `now` holds estimates */
  private find(ns: number, now: Float64Array): boolean {
    const { of, kinds, times } = this;
    const s = of.sampleBefore(ns, this.sample);
    this.sample = s;
    const begin = of.sampleStart(s);
    const span = of.sampleStart(s + 1) - begin;
    if (span <= this.coarseNs) {
      const share = (ns - begin) / span;
      of.totalsWithin(s, share, now, kinds);
      this.index = s * SAMPLE + Math.floor(share * SAMPLE);
      this.exact = false;
      return false;
    }
    const index = of.beforeIn(s, ns);
    if (this.exact && index - this.index <= SAMPLE / 2) of.addUp(this.index, index, times);
    else of.totals(index, times, kinds);
    this.index = index;
    this.exact = true;
    this.nextNs = this.beginOf(index);
    this.lastNs = of.endOf(index - 1);
    this.lastKind = of.kind[index - 1]!;
    return true;
  }

  private beginOf(index: number): number {
    return index < this.of.count ? this.of.startOf(index) : Infinity;
  }
}

/** Kinds that any of them has. */
export const kindsOf = (cursors: readonly TotalsCursor[]): number[] =>
  [...new Set(cursors.flatMap(({ kinds }) => kinds))].sort();

/** Put the time by kind between the last two moments into an array. @param kinds of all cursors */
export function spentIn(
  cursors: readonly TotalsCursor[],
  kinds: readonly number[],
  times: Float64Array,
): void {
  for (let i = 0; i < kinds.length; i++) times[kinds[i]!] = 0;
  for (let c = 0; c < cursors.length; c++) {
    const { now, before, kinds: own } = cursors[c]!;
    for (let i = 0; i < own.length; i++) times[own[i]!]! += now[own[i]!]! - before[own[i]!]!;
  }
}

/** Where the columns of a frame are, nanoseconds. */
export interface Columns {
  fromNs: number;
  step: number;
}

/** Time by kind of all the indexes together, for the columns [from, to). */
export function eachColumn(
  indexes: readonly IntervalIndex[],
  { fromNs, step }: Columns,
  from: number,
  to: number,
  take: (column: number, times: Float64Array) => void,
): void {
  const cursors = cursorsOf(indexes, step);
  const kinds = kindsOf(cursors);
  const times = new Float64Array(KINDS);
  for (let column = from; column <= to; column++) {
    for (const cursor of cursors) cursor.moveTo(fromNs + column * step);
    if (column === from) continue;
    spentIn(cursors, kinds, times);
    take(column - 1, times);
  }
}
