/**
 * The lane of CPU and I/O: how each pixel column's time was spent while SQL ran, in the parts of
 * the time partition. It is exact up to the last `settle`. After that it is hatched, and the
 * storage calls in flight stand for waiting.
 *
 *   #         #   ##        # cpu, from the bottom
 *   #rrrr  w  #rrrr#sssss   r read, w write, s sync, ...; empty: no SQL ran
 */
import type { ByThread } from '../analysis/core/graph.ts';
import { PART } from '../analysis/core/time-parts.ts';
import { KINDS, type IntervalIndex } from '../trace/lanes/interval-index.ts';
import { ACTIVITIES } from '../event/operations.ts';
import type { Lane } from '../trace/lanes/lanes.ts';
import type { ThreadStore } from '../trace/store.ts';
import { eachColumn, spentIn, TotalsCursor, type Columns } from '../trace/lanes/totals-cursor.ts';
import type { TimePieces } from '../analysis/time/time-pieces.ts';

/**
 * The part that a storage call in flight stands for, by place in ACTIVITIES; none and cpu have
 * none.
 */
export const PART_OF_ACTIVITY: readonly number[] = [...ACTIVITIES, 'idbTransaction' as const].map(
  (activity) => {
    if (activity === 'idbTransaction') return PART.idbTransaction;
    if (activity === 'read' || activity === 'write' || activity === 'sync' || activity === 'lock')
      return PART[activity];
    return activity === 'none' || activity === 'cpu' ? PART.cpu : PART.other;
  },
);

export class TimeLane {
  private pieces: (TimePieces & { rows: number; received: number; forgotten: number }) | null =
    null;

  constructor(private readonly thread: ThreadStore) {}

  /** Compute the exact parts for all rows so far: one pass, if rows or ends are new. */
  settle(pieces: ByThread<TimePieces>): void {
    if (!this.grown) return;
    const { events, received, forgotten } = this.thread;
    this.pieces = { ...pieces.of(this.thread), rows: events.count, received, forgotten };
  }

  /** Rows or ends have arrived since the last `settle`. */
  private get grown(): boolean {
    const { pieces, thread } = this;
    return (
      pieces?.rows !== thread.events.count ||
      pieces.received !== thread.received ||
      pieces.forgotten !== thread.forgotten
    );
  }

  /** @returns the exact parts, and until when they are known; null before the first `settle` */
  get exact(): TimePieces | null {
    return this.pieces?.forgotten === this.thread.forgotten ? this.pieces : null;
  }

  /** Nanoseconds in [fromUs, toUs) by place in SQL_PARTS; null where they are not settled. */
  times(fromUs: number, toUs: number): Float64Array | null {
    const { exact } = this;
    // after it, a running thread may have been busy
    if (!exact || (toUs * 1000 > exact.untilNs && this.grown)) return null;
    const sums = new Float64Array(KINDS);
    const cursor = new TotalsCursor(exact.index);
    cursor.moveTo(fromUs * 1000);
    cursor.moveTo(toUs * 1000);
    spentIn([cursor], cursor.kinds, sums);
    return sums;
  }

  /**
   * Shares of each column's time, 0..255, by `column * KINDS + place in SQL_PARTS`; at least 1 if
   * there is any.
   * @param lanes of the thread, for what isn't settled
   */
  columns(
    lanes: readonly Lane[],
    fromUs: number,
    toUs: number,
    width: number,
  ): { stack: Uint8Array; exact: number } {
    const stack = new Uint8Array(width * KINDS);
    const { exact } = this;
    const split = exact
      ? Math.min(
          width,
          Math.max(0, Math.floor(((exact.untilNs / 1000 - fromUs) / (toUs - fromUs)) * width)),
        )
      : 0;
    const columns: Columns = { fromNs: fromUs * 1000, step: ((toUs - fromUs) * 1000) / width };
    if (exact && split > 0)
      eachColumn([exact.index], columns, 0, split, (column, times) => {
        for (let part = 0; part < KINDS; part++) {
          const ns = times[part]!;
          if (ns > 0) stack[column * KINDS + part] = share(ns, columns.step);
        }
      });
    if (split < width) this.fromCalls(lanes, stack, columns, split, width);
    return { stack, exact: this.grown ? split : width };
  }

  private fromCalls(
    lanes: readonly Lane[],
    stack: Uint8Array,
    columns: Columns,
    from: number,
    to: number,
  ): void {
    const { step } = columns;
    const of = (kind: Lane['kind']): IntervalIndex[] =>
      lanes.flatMap((lane) => (lane.kind === kind ? [lane.settled, lane.tail] : []));
    const inSql = new Float64Array(to);
    const above = of('sql').length ? of('sql') : of('vfs');
    eachColumn(above, columns, from, to, (column, times) => {
      for (let kind = 0; kind < KINDS; kind++) inSql[column]! += times[kind]!;
    });
    eachColumn(of('web'), columns, from, to, (column, times) => {
      let left = inSql[column]!;
      for (let kind = 2; kind < KINDS && left > 0; kind++) {
        const ns = Math.min(left, times[kind]!);
        if (ns > 0) add(stack, column * KINDS + PART_OF_ACTIVITY[kind]!, share(ns, step));
        left -= ns;
      }
      inSql[column] = left;
    });
    for (let column = from; column < to; column++)
      add(stack, column * KINDS + PART.cpu, share(inSql[column]!, step));
  }
}

/** Part of a column as 0..255; at least 1 if there is any. */
export const share = (ns: number, step: number): number =>
  ns <= 0 ? 0 : Math.max(1, Math.min(255, Math.round((ns / step) * 255)));

const add = (stack: Uint8Array, at: number, more: number): void =>
  void (stack[at] = Math.min(255, stack[at]! + more));
