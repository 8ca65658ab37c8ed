/**
 * Calls that nest and overlap, in order of their begin -> disjoint intervals: every moment belongs to the call that began last
 * and still runs. Works while the trace grows: what is settled goes to `settled`, what later calls may still cut to `tail`.
 */
import { IntervalIndex } from './interval-index.ts';
import type { EventColumns } from './columns.ts';

export const toNs = (us: number): number => Math.round(us * 1000);

export class Sweep {
  readonly settled = new IntervalIndex();
  /** Follows `settled`; rebuilt by `settle`. */
  readonly tail = new IntervalIndex();
  /** Calls that may still run at the cursor, in order of their begin. */
  private rows: number[] = [];
  private kinds: number[] = [];
  /** Everything before is settled, nanoseconds. */
  private cursor = -Infinity;

  constructor(private readonly events: EventColumns) {}

  private endOf(row: number): number {
    const { events } = this;
    return events.endSeq[row] === 0 ? Infinity : toNs(events.t0[row]! + events.dur[row]!);
  }

  /** The next call. `row` must not begin before the ones added earlier. */
  add(row: number, kind: number): void {
    const start = toNs(this.events.t0[row]!);
    if (this.rows.length) this.advance(start);
    this.cursor = Math.max(this.cursor, start);
    if (this.endOf(row) <= start) this.settled.push(start, 0, kind, row);
    else {
      this.rows.push(row);
      this.kinds.push(kind);
    }
  }

  /** Settle the time up to `ns`. */
  private advance(ns: number): void {
    const { rows, kinds } = this;
    while (rows.length && this.cursor < ns) {
      const row = rows[rows.length - 1]!;
      const end = Math.min(this.endOf(row), ns);
      if (end > this.cursor) {
        this.settled.push(this.cursor, end - this.cursor, kinds[kinds.length - 1]!, row);
        this.cursor = end;
      }
      if (this.endOf(row) <= ns) {
        rows.pop();
        kinds.pop();
      }
    }
  }

  /** Bring `tail` up to date. @param horizonNs calls without an end are taken to run until here */
  settle(horizonNs: number): void {
    const { rows, kinds, tail } = this;
    tail.clear();
    let at = this.cursor;
    let kept = 0;
    for (let i = rows.length - 1; i >= 0; i--) {
      const row = rows[i]!;
      const end = Math.min(this.endOf(row), Math.max(horizonNs, this.cursor));
      if (end > at) {
        tail.push(at, end - at, kinds[i]!, row);
        at = end;
      }
    }
    for (let i = 0; i < rows.length; i++)
      if (this.endOf(rows[i]!) > this.cursor) {
        rows[kept] = rows[i]!;
        kinds[kept++] = kinds[i]!;
      }
    rows.length = kinds.length = kept;
  }
}
