/** Questions and answers of the Locks view. */
import type { BusyLine, DeadlockLine, LeftLine } from '../../analysis/contention/lock-lines.ts';
import type { WaitArrow } from '../../analysis/contention/wait-arrows.ts';
import type { WaitLine } from '../../analysis/contention/wait-lines.ts';
import type { WaitSums } from '../../analysis/contention/wait-sums.ts';
import type { LockLane } from './lock-lanes.ts';

/** Lists hold only the longest entries. `totals` has the full counts. */
export interface LocksAnswer {
  lanes: LockLane[];
  /** Lanes that each stand for several of `lanes`: a VFS's own access handles. */
  pools: LockLane[];
  moreLanes: number;
  waits: WaitLine[];
  arrows: WaitArrow[];
  /** By place in the trace's threads. */
  titles: string[];
  busy: BusyLine[];
  left: LeftLine[];
  deadlocks: DeadlockLine[];
  totals: { waits: number; busy: number; left: number; deadlocks: number };
  /** Over all lines of waits. */
  waitSums: WaitSums;
  /** How precisely times of two threads compare, microseconds; null = not known. */
  toleranceUs: number | null;
}
