/**
 * The time partition: every moment of a thread belongs to exactly one part, and the parts sum to
 * the whole to the nanosecond.
 *
 *   sqlite3_step     ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~            ========
 *   xRead               ==========  ~~~~~~~~~~~~~~~~~~~~~~~
 *   opfs.read             ======                                           ====
 *   idb.transaction                   ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
 *   idb.get                             ~~~~~~~~
 *   tracer                                         ==
 *   part             cccccrrrrrrccccoottrrrrrrrrtttTTttttttccxxxxxxxx....ccrrrrcc
 *
 *   === synchronous  ~~~ suspended   c cpu  r read  t idbTransaction  o other  T tracer  x outside  . idle
 *
 * SQL runs while an SQL or VFS call is open. The first matching rule decides:
 *   1. A tracer record is open: tracer, even outside SQL (such as the recording's own set-up).
 *   2. No SQL runs: outside if a storage call of the browser is open, else idle. Locks and waits
 *      are idle then.
 *   3. A synchronous call is open: the thread is in it, and if there are several, in the one that
 *      began last. A web call is its own part (read, write, sync, idbTransaction, lock). VFS and SQL
 *      calls are cpu, because their JavaScript and wasm runs.
 *   4. A VFS call is open, so it is suspended. It waits for the running web call that began last,
 *      and takes its part unless that is an IndexedDB transaction. Next comes idbTransaction, the
 *      wait for its start or completion. Without a known web call it is lock in xLock and similar
 *      calls, else other. Writes that an earlier VFS call began and didn't await count, too, because
 *      xSync waits for them. A lock request or wait only counts while the call that made it is open.
 *   5. Only SQL calls are open, and suspended: like 4, with the web calls that they made themselves
 *      (the VFS isn't traced), else cpu.
 *   6. Lock (lock calls) becomes lockWait while a recorded holder had that lock, and while BUSY was
 *      answered. So does the time between the attempts of one SQL call that repeatedly gets BUSY,
 *      and an IndexedDB transaction or its requests while another thread's transaction was ahead.
 *   7. If a thread's recording leaves storage calls out, nothing is known below its VFS calls. Their
 *      time, including their JavaScript, is the part of their operation (read, write, sync, lock),
 *      and `vfsIsStorage` is set. Calls on SQLite's in-memory journal stay cpu.
 *   Atomics.wait and waitAsync take the part of the VFS call around them (sqlite.org's "opfs" VFS
 *   waits this way inside xRead, xWrite, xSync, xLock), or other without one.
 *
 * A call is suspended if it has Flag.async, if an asynchronous web call ended during it (JSPI
 * leaves no flag on VFS calls), or if its end isn't known. The latter runs to the thread's last
 * event and is counted in `openEnds`. A VFS call under JSPI that awaits something without an event
 * isn't detected as suspended, and counts as cpu. The recording's cost of each call (Definition
 * `cost`) is in the other parts, mostly in cpu.
 *
 * Errors: a clock reading is off by less than the clock's step. Moving a border by a step moves as
 * much time between two parts, so a part is off by at most its number of borders times the step:
 * `errorUs`. Borders are counted by sequence numbers, even if the clock saw no time pass. Errors of
 * many readings cancel out. If calls begin at moments independent of the clock's ticks, each has a
 * variance of step^2 / 12, and twice the square root of their sum is `likelyErrorUs`. Neither
 * exceeds the range's length.
 */
import type { ThreadStore } from '../../trace/store.ts';
import { toNs } from '../../trace/lanes/sweep.ts';
import type { Owners } from '../../trace/owners.ts';
import type { TimeRange } from '../core/time-range.ts';
import { PARTS, type PartTimes, partTimes } from '../core/time-parts.ts';
import { formatCount } from '../../text/numbers.ts';
import { Shares, type TimeKeeper } from './time-shares.ts';
import { TimeSweep, type Sums } from './time-sweep.ts';

export type { TimeRange } from '../core/time-range.ts';

/**
 * Microseconds by part, multiples of 0.001. Sum them as whole nanoseconds to get exactly `spanUs`.
 */
export interface TimePartition extends PartTimes {
  spanUs: number;
  /** Bound of each part's error; null if the clock's step isn't known. */
  errorUs: PartTimes | null;
  /** Two standard deviations; null as above. */
  likelyErrorUs: PartTimes | null;
  /** Calls whose end isn't known. */
  openEnds: number;
  /**
   * The part of tracerUs while no SQL ran: the recording's own set-up. 0 in a share by statement or
   * connection.
   */
  tracerOutsideUs: number;
  /**
   * The recording leaves storage calls out, so the time of VFS calls, including their JavaScript,
   * counts as storage.
   */
  vfsIsStorage: boolean;
}

/** @param open calls, at least one */
export const openEndsText = (open: number): string =>
  open === 1
    ? '1 call had not ended. vfscope assumes that it lasts to the end.'
    : `${formatCount(open)} calls had not ended. vfscope assumes that they last to the end.`;

/** Time while SQL runs, microseconds: the sum of its statements' shares. */
export const timeInSql = (p: TimePartition): number =>
  (toNs(p.spanUs) - toNs(p.idleUs) - toNs(p.outsideUs) - toNs(p.tracerOutsideUs)) / 1000;

/** The recording's own work while SQL ran, microseconds: its part of `timeInSql`. */
export const tracerInSql = (p: TimePartition): number =>
  (toNs(p.tracerUs) - toNs(p.tracerOutsideUs)) / 1000;

/** For one thread. Times before its first event and after its last one are idle. */
export function partitionThread(sweep: TimeSweep, range: TimeRange = {}): TimePartition {
  const [from, to] = nsOf(range, sweep);
  return partitionOf(sweep.run(from, to), stepOf(sweep.thread), to - from, sweep.vfsIsStorage);
}

/** The times of an entire thread, and each statement's share. */
export interface ThreadTimes {
  partition: TimePartition;
  /**
   * The time while SQL runs by statement text: id of the `sql` definition -> its share, 0 =
   * statement not known (opening, closing, VFS calls with no SQL layer above). A moment belongs to
   * the statement of the deciding call, else to that of the SQL or VFS call that began last. idleUs
   * and outsideUs are 0; the other parts of all statements sum to those of the thread, except for
   * tracerUs outside SQL.
   */
  byStatement: ReadonlyMap<number, TimePartition>;
}

/** Both in one sweep. @param owners of the thread's calls */
export function timesOfThread(
  sweep: TimeSweep,
  owners: Owners,
  range: TimeRange = {},
): ThreadTimes {
  const { thread } = sweep;
  const [from, to] = nsOf(range, sweep);
  const shares = new Shares(thread.events, owners);
  const step = stepOf(thread);
  const partition = partitionOf(sweep.run(from, to, shares), step, to - from, sweep.vfsIsStorage);
  const byStatement = new Map<number, TimePartition>();
  shares.ids.forEach((id, place) => {
    const [begin, end] = [place * PARTS.length, (place + 1) * PARTS.length];
    const sums = {
      ns: shares.ns.subarray(begin, end),
      readings: shares.readings.subarray(begin, end),
      tracerOutsideNs: 0,
    };
    if (!sums.ns.some((n) => n > 0) && !sums.readings.some((n) => n > 0)) return;
    byStatement.set(
      id,
      partitionOf(
        { ...sums, openEnds: shares.openEnds[place]! },
        step,
        to - from,
        sweep.vfsIsStorage,
      ),
    );
  });
  return { partition, byStatement };
}

/** Sum the time of a range with a keeper that defines the places. */
export function keepTimes(sweep: TimeSweep, keeper: TimeKeeper, range: TimeRange): void {
  sweep.run(...nsOf(range, sweep), keeper);
}

function nsOf({ fromUs, toUs }: TimeRange, { firstNs, lastNs }: TimeSweep): [number, number] {
  const from = fromUs === undefined ? firstNs : toNs(fromUs);
  return [from, Math.max(from, toUs === undefined ? lastNs : toNs(toUs))];
}

/** Step of the thread's clock, microseconds; null = unknown. */
function stepOf(thread: ThreadStore): number | null {
  const step = thread.environment?.clockStepUs;
  return step !== undefined && Number.isFinite(step) && step >= 0 ? step : null;
}

function partitionOf(
  sums: Sums,
  stepUs: number | null,
  rangeNs: number,
  vfsIsStorage: boolean,
): TimePartition {
  const span = sums.ns.reduce((total, ns) => total + ns, 0);
  const errors = (ofReadings: (n: number) => number): PartTimes =>
    partTimes((i) => Math.min(ofReadings(sums.readings[i]!), rangeNs / 1000));
  return {
    ...partTimes((i) => sums.ns[i]! / 1000),
    spanUs: span / 1000,
    errorUs: stepUs === null ? null : errors((n) => n * stepUs),
    likelyErrorUs: stepUs === null ? null : errors((n) => 2 * stepUs * Math.sqrt(n / 12)),
    openEnds: sums.openEnds,
    tracerOutsideUs: sums.tracerOutsideNs / 1000,
    vfsIsStorage,
  };
}
