/**
 * The time partition: every moment of a thread belongs to exactly one part, and the parts sum to the whole to the nanosecond.
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
 * SQL is in flight while an SQL or VFS call is open. Who decides, first rule that applies:
 *   1. a tracer record is open: tracer, also outside SQL (so is the recording's own set-up)
 *   2. no SQL runs: outside where a storage call of the browser is open, else idle. Locks and waits there are idle.
 *   3. a synchronous call is open: the thread is in it, and of several in the one begun last. A web call is its own part
 *      (read, write, sync, idbTransaction, lock); VFS and SQL calls are cpu, for their JavaScript and wasm runs.
 *   4. a VFS call is open, so suspended: it waits for the web call begun last that is under way: its part, unless it is an
 *      IndexedDB transaction; then idbTransaction, the wait for its start or completion; then, with no web call known, lock
 *      in xLock and its like, else other. Writes that an earlier VFS call began and left count too: xSync waits for them. A lock
 *      request or wait counts only while the call that made it is open.
 *   5. only SQL calls are open, suspended: as 4 with the web calls that they made themselves (a VFS that is not traced), else cpu.
 *   6. Where the thread would be in lock (lock calls), it is in lockWait while a recorded holder had that lock, and while BUSY was
 *      answered; so is the time between the attempts of one SQL call that is answered BUSY again and again, and an IndexedDB
 *      transaction or its requests while another thread's transaction was ahead of it.
 *   7. A thread whose recording leaves storage calls out shows nothing under its VFS calls: there the time of a VFS call is the part
 *      that its operation stands for (read, write, sync, lock), its JavaScript included, and `vfsIsStorage` says so.
 *      Calls on SQLite's in-memory journal stay cpu.
 *   Atomics.wait and waitAsync are what the VFS call around them is for (sqlite.org's "opfs" VFS waits so inside xRead, xWrite,
 *   xSync, xLock); other with no VFS call around them.
 *
 * Suspended is a call with Flag.async, a call during which an asynchronous web call ended (JSPI leaves no flag on VFS calls), and
 * one whose end is not known: that one is taken to run to the thread's last event and counted in `openEnds`. A VFS call under JSPI
 * that awaits what leaves no event is not seen to be suspended and counts as cpu.
 * What recording costs each call (Definition `cost`) is inside the other parts, cpu above all.
 *
 * Errors: a clock reading is off by less than the clock's step. Moving one border by a step moves as much time between two parts,
 * so a part is off by at most the number of its borders times the step: `errorUs`; borders are counted by sequence numbers, also where
 * the clock saw no time pass. Errors of many readings cancel: where calls
 * begin at moments independent of the clock's ticks, each has a variance of step^2 / 12, and twice the square root of their sum is
 * `likelyErrorUs`. Neither is above the range's length.
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

/** Microseconds by part, multiples of 0.001. Sum them as whole nanoseconds: then they are `spanUs` exactly. */
export interface TimePartition extends PartTimes {
  spanUs: number;
  /** Bound of each part's error; null where the clock's step is not known. */
  errorUs: PartTimes | null;
  /** Two standard deviations; null as above. */
  likelyErrorUs: PartTimes | null;
  /** Calls whose end is not known. */
  openEnds: number;
  /** The part of tracerUs in which no SQL was in flight: the recording's own set-up. 0 in a share by statement or connection. */
  tracerOutsideUs: number;
  /** The recording leaves storage calls out: the time of VFS calls counts as storage, their JavaScript included. */
  vfsIsStorage: boolean;
}

/** @param open calls, at least one */
export const openEndsText = (open: number): string =>
  open === 1
    ? '1 call had not ended. vfscope assumes that it lasts to the end.'
    : `${formatCount(open)} calls had not ended. vfscope assumes that they last to the end.`;

/** Time while SQL runs: what the shares of its statements sum to, microseconds. */
export const timeInSql = (p: TimePartition): number =>
  (toNs(p.spanUs) - toNs(p.idleUs) - toNs(p.outsideUs) - toNs(p.tracerOutsideUs)) / 1000;

/** The recording's own work while SQL ran, microseconds: what the parts of `timeInSql` have of it. */
export const tracerInSql = (p: TimePartition): number =>
  (toNs(p.tracerUs) - toNs(p.tracerOutsideUs)) / 1000;

/** Of one thread. Times before its first and after its last event are idle. */
export function partitionThread(sweep: TimeSweep, range: TimeRange = {}): TimePartition {
  const [from, to] = nsOf(range, sweep);
  return partitionOf(sweep.run(from, to), stepOf(sweep.thread), to - from, sweep.vfsIsStorage);
}

/** The whole of a thread's life, and what each statement has of it. */
export interface ThreadTimes {
  partition: TimePartition;
  /**
   * The time while SQL runs by statement text: id of the `sql` definition -> its share, 0 = statement not known (opening,
   * closing, VFS calls with no SQL layer above). A moment belongs to the statement of the call that decides, else to that of the SQL
   * or VFS call begun last. idleUs and outsideUs are 0; the other parts of all statements sum to those of the thread, but for
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

/** Sum up the time of a range for a keeper with places of its own. */
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
