/**
 * Calls that nest and overlap, in order of their begin -> disjoint intervals: every moment belongs
 * to the call that began last and still runs. Works while the trace grows: `settled` has what can't
 * change, and `tail` what later calls may still cut.
 */
import { IntervalIndex } from './interval-index.ts';
import { longer } from '../typed-arrays.ts';
import type { EventColumns } from '../columns.ts';

export const toNs = (us: number): number => Math.round(us * 1000);

export class Sweep {
  readonly settled = new IntervalIndex();
  /** Follows `settled`; rebuilt by `settle`. */
  readonly tail = new IntervalIndex();
  /**
   * Calls that may still run at the cursor, by their begin, and their ends: Infinity if not yet
   * known.
   */
  private rows: Uint32Array = new Uint32Array(16);
  private kinds: Uint8Array = new Uint8Array(16);
  private ends: Float64Array = new Float64Array(16);
  private depth = 0;
  /** Everything before is settled, nanoseconds. */
  private cursor = -Infinity;

  constructor(private readonly events: EventColumns) {}

  private endOf(row: number): number {
    const { events } = this;
    return events.endSeq[row] === 0 ? Infinity : toNs(events.t0[row]! + events.dur[row]!);
  }

  /** When the call at this place of the stack ends: looked up again until it is known. */
  private endAt(i: number): number {
    const end = this.ends[i]!;
    return end === Infinity ? (this.ends[i] = this.endOf(this.rows[i]!)) : end;
  }

  /** Add the next call. `row` must not begin before those added earlier. */
  add(row: number, kind: number): void {
    const start = toNs(this.events.t0[row]!);
    const end = this.endOf(row);
    if (this.depth) this.advance(start);
    if (start > this.cursor) this.cursor = start;
    if (end <= start) this.settled.push(start, 0, kind, row);
    else {
      if (this.depth === this.ends.length) this.grow();
      this.rows[this.depth] = row;
      this.kinds[this.depth] = kind;
      this.ends[this.depth++] = end;
    }
  }

  private grow(): void {
    const room = this.depth + 1;
    this.rows = longer(this.rows, room);
    this.kinds = longer(this.kinds, room);
    this.ends = longer(this.ends, room);
  }

  /** Settle the time up to `ns`. */
  private advance(ns: number): void {
    let { cursor, depth } = this;
    while (depth && cursor < ns) {
      const ends = this.endAt(depth - 1);
      const end = ends < ns ? ends : ns;
      if (end > cursor) {
        this.settled.push(cursor, end - cursor, this.kinds[depth - 1]!, this.rows[depth - 1]!);
        cursor = end;
      }
      if (ends <= ns) depth--;
    }
    this.cursor = cursor;
    this.depth = depth;
  }

  /** `share` of all calls have been added: allocate memory for the rest at once. */
  expect(share: number): void {
    this.settled.expect(Math.ceil(this.settled.count / share));
  }

  /** Update `tail`. @param horizonNs calls without an end are taken to run until here */
  settle(horizonNs: number): void {
    const { rows, kinds, ends, tail } = this;
    tail.clear();
    let at = this.cursor;
    const most = Math.max(horizonNs, this.cursor);
    for (let i = this.depth - 1; i >= 0; i--) {
      const end = Math.min(this.endAt(i), most);
      if (end > at) {
        tail.push(at, end - at, kinds[i]!, rows[i]!);
        at = end;
      }
    }
    let kept = 0;
    for (let i = 0; i < this.depth; i++)
      if (ends[i]! > this.cursor) {
        rows[kept] = rows[i]!;
        kinds[kept] = kinds[i]!;
        ends[kept++] = ends[i]!;
      }
    this.depth = kept;
  }
}
