/**
 * Running totals of an IntervalIndex at ascending moments: what was added up for one boundary of a frame serves the next.
 *
 * Where a frame's columns hold many intervals, a boundary that falls into a sample of the index much shorter than a column is not looked
 * for among the sample's intervals: it takes the sample's totals by the share of its time that lies before the boundary. That is off by a
 * quarter of the sample's span at most, and reads three lines of memory instead of ten. A sample with a gap in it is not short.
 */
import { KINDS, SAMPLE, type IntervalIndex } from './interval-index.ts';

/** Of a column: what a boundary may be off by is a quarter of it, a 32nd of the column's time, where its intervals are as uneven as can be. */
const COARSE = 1 / 8;

/** Cursors of the indexes that hold something. @param step a column's time, nanoseconds */
export const cursorsOf = (indexes: readonly IntervalIndex[], step: number): TotalsCursor[] =>
  indexes.flatMap((index) => (index.count > 0 ? [new TotalsCursor(index, step * COARSE)] : []));

export class TotalsCursor {
  /** Number of intervals that begin before the moment; to within a sample where that was not looked into. */
  index = 0;
  /** `index` and the totals are right to the interval. */
  exact = true;
  /** The kinds of the index: totals of others are 0. */
  readonly kinds: readonly number[];
  /** Totals before the moment, an interval that spans it in part, and those before the moment before. */
  now = new Float64Array(KINDS);
  before = new Float64Array(KINDS);
  private sample = 0;
  /** Totals before `index`. */
  private readonly times = new Float64Array(KINDS);
  /** Of the interval before `index`: its end, nanoseconds, and kind. They and `nextNs` are of no use where not exact. */
  lastNs = -Infinity;
  private lastKind = 0;
  /** Of the interval at `index`: its begin. */
  private nextNs: number;

  /** @param coarseNs samples that span no more are not looked into */
  constructor(
    readonly of: IntervalIndex,
    private readonly coarseNs = 0,
  ) {
    this.kinds = of.kinds;
    this.nextNs = this.beginOf(0);
  }

  /** Go on to a later moment. */
  moveTo(ns: number): void {
    const now = this.before;
    this.before = this.now;
    this.now = now;
    if ((!this.exact || ns > this.nextNs) && !this.find(ns, now)) return; // else the same intervals as the last time: most columns of a near zoom
    const { kinds, times } = this;
    for (let i = 0; i < kinds.length; i++) now[kinds[i]!] = times[kinds[i]!]!;
    const over = this.lastNs - ns;
    if (over > 0) now[this.lastKind]! -= over;
  }

  /** @returns whether `times` are to the interval; else `now` holds what they are about */
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

/** Kinds of any of them. */
export const kindsOf = (cursors: readonly TotalsCursor[]): number[] =>
  [...new Set(cursors.flatMap(({ kinds }) => kinds))].sort();

/** Put the time between the last two moments by kind into an array. @param kinds of all cursors */
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

/** Where the columns of a frame lie, nanoseconds. */
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
