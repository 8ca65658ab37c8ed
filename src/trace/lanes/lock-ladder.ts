/**
 * SQLite's lock level of a thread over time: the highest level that any of its connections holds,
 * from the xLock and xUnlock calls that took effect. On a thread without VFS calls, held Web Locks
 * are shown instead (exclusive as EXCLUSIVE, shared as SHARED).
 */
import { Op, WebLock } from '../../event/event.ts';
import { LockLevel } from '../../sqlite/constants.ts';
import type { EventColumns } from '../columns.ts';
import { IntervalIndex } from './interval-index.ts';
import { Sweep, toNs } from './sweep.ts';
import { LockLevels, SETS_LEVEL } from '../lock-levels.ts';

export class LockLadder {
  private readonly own = new IntervalIndex();
  private readonly ownTail = new IntervalIndex();
  private readonly webLocks: Sweep;
  /** Lock calls whose end has not been seen yet. */
  private waiting: number[] = [];
  private readonly levels: LockLevels;
  private level = 0;
  private since = 0;
  private row = 0;
  private vfsEvents = 0;
  private webEvents = 0;

  constructor(private readonly events: EventColumns) {
    this.webLocks = new Sweep(events);
    this.levels = new LockLevels(events);
  }

  get settled(): IntervalIndex {
    return this.vfsEvents ? this.own : this.webLocks.settled;
  }
  get tail(): IntervalIndex {
    return this.vfsEvents ? this.ownTail : this.webLocks.tail;
  }

  add(row: number, op: number): void {
    if (SETS_LEVEL[op]) this.waiting.push(row);
    else if (op === Op.lockHeld) {
      this.webLocks.add(
        row,
        this.events.aux[row]! & WebLock.shared ? LockLevel.shared : LockLevel.exclusive,
      );
      this.webEvents++;
    }
  }

  /** Apply the calls that have ended. @returns rows that shaped the lane */
  settle(horizonNs: number): number {
    const { events } = this;
    const ended = this.waiting.filter((row) => events.endSeq[row] !== 0);
    if (ended.length) {
      this.waiting = this.waiting.filter((row) => events.endSeq[row] === 0);
      ended.sort((a, b) => events.endSeq[a]! - events.endSeq[b]!); // held from the end on
      for (const row of ended) this.apply(row);
    }
    this.ownTail.clear();
    if (this.level && horizonNs > this.since)
      this.ownTail.push(this.since, horizonNs - this.since, this.level, this.row);
    this.webLocks.settle(horizonNs);
    return this.vfsEvents || this.webEvents;
  }

  private apply(row: number): void {
    const { events, levels } = this;
    const op = events.op[row]!;
    if (op === Op.xLock || op === Op.xUnlock) this.vfsEvents++;
    levels.take(row);
    const level = levels.highest;
    if (level === this.level) return;
    const at = Math.max(this.since, toNs(events.t0[row]! + events.dur[row]!));
    if (this.level) this.own.push(this.since, at - this.since, this.level, this.row);
    this.level = level;
    this.since = at;
    this.row = row;
  }
}
