/**
 * Storage calls that overlap, on separate lines: a call goes to the first line that is free when it
 * begins.
 *
 *   line 1  [== get ==]  [===== put =====]
 *   line 2     [== get ==] [= put =]           calls in flight = busy lines
 *
 * Synchronous calls (OPFS access handles, localStorage) are left out, because they can't overlap.
 */
import { opTable } from '../event/operations.ts';
import type { EventColumns } from '../trace/columns.ts';
import type { IntervalIndex } from '../trace/lanes/interval-index.ts';
import { ACTIVITY_OF_OP, laneOfOp } from '../trace/lanes/lanes.ts';
import { Sweep } from '../trace/lanes/sweep.ts';

/** If more calls overlap, the rest share the last line. */
const MAX_LINES = 16;

const OVERLAPS = opTable(({ code, synchronous }) => laneOfOp(code) === 'web' && !synchronous);

export class SubLanes {
  private sweeps: Sweep[] = [];
  /** Row of the last call on each line. */
  private last: number[] = [];
  private next = 0;

  constructor(private readonly events: EventColumns) {}

  /**
   * Take in what arrived since the last update.
   * @param horizonNs calls still running are shown up to here @param share of all rows that are
   * here (`shareRead`)
   */
  update(horizonNs: number, share = 0): void {
    const { events } = this;
    for (; this.next < events.count; this.next++) {
      const row = this.next;
      if (!OVERLAPS[events.op[row]!]) continue;
      const line = this.freeLine(row);
      this.last[line] = row;
      (this.sweeps[line] ??= new Sweep(events)).add(row, ACTIVITY_OF_OP[events.op[row]!]!);
    }
    for (const sweep of this.sweeps) {
      if (share > 0) sweep.expect(share);
      sweep.settle(horizonNs);
    }
  }

  private freeLine(row: number): number {
    const { events, last } = this;
    const t0 = events.t0[row]!;
    for (let line = 0; line < last.length; line++) {
      const before = last[line]!;
      if (events.endSeq[before] !== 0 && events.t0[before]! + events.dur[before]! <= t0)
        return line;
    }
    return Math.min(last.length, MAX_LINES - 1);
  }

  /** Fewer than two lines mean that nothing overlapped. */
  get lines(): readonly { readonly settled: IntervalIndex; readonly tail: IntervalIndex }[] {
    return this.sweeps;
  }
}
