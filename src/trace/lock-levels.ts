/**
 * SQLite's lock level of each connection to a file, call by call: xLock only raises it, xUnlock
 * only lowers it (sqlite.org/lockingv3.html).
 */
import { Op } from '../event/event.ts';
import { opSet } from '../event/operations.ts';
import { LockLevel } from '../sqlite/constants.ts';
import type { EventColumns } from './columns.ts';

/** One number for a connection and its file. Ids are per thread. */
export const connectionKey = (object: number, context: number): number =>
  object + context * 2 ** 26;

/**
 * Calls that set their connection's level when they take effect. xOpen is one, because the xClose
 * before it may be lost.
 */
export const SETS_LEVEL = /* @__PURE__ */ opSet(Op.xLock, Op.xUnlock, Op.xOpen, Op.xClose);

/**
 * Whether such a call took effect: it has ended without an error. SQLite ignores the result of an
 * xClose.
 */
export const tookEffect = ({ op, result, endSeq }: EventColumns, row: number): boolean =>
  endSeq[row] !== 0 && (result[row] === 0 || op[row] === Op.xClose);

/**
 * @param op xLock or xUnlock; after an xOpen or xClose there isn't a lock @param asked the call's
 * aux
 * @returns the level after a call that took effect
 */
export function levelAfter(op: number, before: number, asked: number): number {
  if (op === Op.xLock) return Math.max(before, Math.min(asked, LockLevel.exclusive));
  return op === Op.xUnlock ? Math.min(before, asked) : LockLevel.none;
}

/** The levels of one thread's connections. */
export class LockLevels {
  /** By connection and file; those without a lock are left out. */
  private readonly levels = new Map<number, number>();

  constructor(private readonly events: EventColumns) {}

  /** Level of the connection and file that a call is on. */
  of(row: number): number {
    const { object, context } = this.events;
    return this.levels.get(connectionKey(object[row]!, context[row]!)) ?? LockLevel.none;
  }

  /**
   * Take in an xOpen, xLock, xUnlock, or xClose.
   * @returns the level after it, which is the previous one if it had no effect
   */
  take(row: number): number {
    const { op, object, context, aux } = this.events;
    const before = this.of(row);
    if (!tookEffect(this.events, row)) return before;
    const level = levelAfter(op[row]!, before, aux[row]!);
    const key = connectionKey(object[row]!, context[row]!);
    if (level > LockLevel.none) this.levels.set(key, level);
    else this.levels.delete(key);
    return level;
  }

  /** The highest level of any connection. */
  get highest(): number {
    let highest: number = LockLevel.none;
    for (const level of this.levels.values()) highest = Math.max(highest, level);
    return highest;
  }
}
