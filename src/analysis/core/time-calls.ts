/**
 * What the time partition needs to know about a call: when it ends, whether it blocked the thread
 * (synchronous) or was suspended, and what it serves. Derived from the columns on request, without
 * data by row.
 */
import { lowerBound } from '../../trace/number-columns.ts';
import type { EventColumns } from '../../trace/columns.ts';
import { ownersOf, type Owners } from '../../trace/owners.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { isVfsOp } from '../../event/operations.ts';
import { Flag } from '../../event/event.ts';
import { toNs } from '../../trace/lanes/sweep.ts';
import { isStorage, PART, PART_OF_OP, Role, ROLE_OF_OP, WAIT } from './time-parts.ts';

/** The stacks that a call is on while open: see time-sweep.ts. Bit i = stack i. */
export const Stack = {
  tracer: 0,
  /** Synchronous calls: they are the thread's JavaScript stack. */
  running: 1,
  /** SQL and VFS calls: while one is open, SQL is in flight. */
  engine: 2,
  vfs: 3,
  /** Suspended storage, lock and wait calls. */
  request: 4,
  /** IndexedDB transactions under way. */
  transaction: 5,
  /** The previous two, for those that serve an SQL call without a VFS call in between. */
  directRequest: 6,
  directTransaction: 7,
  /** Storage calls of every kind. */
  storage: 8,
} as const;
export const STACKS = 9;

const isTurn = ({ flags, op, endSeq }: EventColumns, row: number): boolean =>
  (flags[row]! & Flag.async) !== 0 && ROLE_OF_OP[op[row]!] === Role.web && endSeq[row] !== 0;

/**
 * Ascending sequence numbers at which asynchronous web calls ended: proof that the thread was back
 * in its event loop.
 */
function turns(events: EventColumns): Uint32Array {
  let n = 0;
  for (let row = 0; row < events.count; row++) if (isTurn(events, row)) n++;
  const found = new Uint32Array(n);
  let ascending = true;
  n = 0;
  for (let row = 0; row < events.count && n < found.length; row++) {
    if (!isTurn(events, row)) continue;
    if (n && found[n - 1]! > events.endSeq[row]!) ascending = false;
    found[n++] = events.endSeq[row]!;
  }
  return ascending ? found : found.sort();
}

/** When the last of all calls ends, nanoseconds; for one that hasn't ended, its begin. */
function lastEnd({ count, t0, dur, endSeq }: EventColumns): number {
  let last = count ? -Infinity : 0;
  for (let row = 0; row < count; row++) {
    const begin = toNs(t0[row]!);
    last = Math.max(last, endSeq[row] === 0 ? begin : begin + Math.max(0, toNs(dur[row]!)));
  }
  return last;
}

/** Calls of a thread, requested in order of begin. */
export class Calls {
  private knownLastNs: number | null = null;
  private readonly turns: Uint32Array;
  private turn = 0;
  /**
   * Lock requests and waits that another call's end cuts short: their end by row; NaN for others.
   * Most threads have none.
   */
  private cuts: Float64Array | null = null;

  private readonly events: EventColumns;
  private owners: Owners | null = null;

  /** @param app the app's own databases and stores: see app-databases.ts */
  constructor(
    private readonly thread: ThreadStore,
    private readonly app: ReadonlySet<number>,
  ) {
    const { events } = thread;
    this.events = events;
    this.turns = turns(events);
  }

  /** Begin of the thread's first event, nanoseconds. */
  get firstNs(): number {
    const { count, t0 } = this.events;
    return count ? toNs(t0[0]!) : 0;
  }
  /** End of its last, nanoseconds. */
  get lastNs(): number {
    return (this.knownLastNs ??= lastEnd(this.events));
  }

  /** Start again from the first call. */
  rewind(): void {
    this.turn = 0;
  }

  /** Whether some call's end differs from its columns; see `endOf`. */
  get isCut(): boolean {
    return this.cuts !== null;
  }

  /** When a call ends, nanoseconds. One that hasn't ended runs to the thread's end. */
  endOf(row: number): number {
    const { t0, dur, endSeq, op, count } = this.events;
    if (this.cuts && !Number.isNaN(this.cuts[row]!)) return this.cuts[row]!;
    if (endSeq[row] !== 0) return toNs(t0[row]!) + Math.max(0, toNs(dur[row]!));
    // the tracer's own work is never asynchronous, so whatever came next came after it
    return ROLE_OF_OP[op[row]!] === Role.tracer && row + 1 < count
      ? toNs(t0[row + 1]!)
      : this.lastNs;
  }

  /** The stacks that a call is on, as bits; 0 = it doesn't matter. Rows must ascend. */
  stacksOf(row: number): number {
    const { events } = this;
    const role = ROLE_OF_OP[events.op[row]!]!;
    const flags = events.flags[row]!;
    if (role === Role.none || flags & Flag.untimed) return 0;
    if (role === Role.tracer) return 1 << Stack.tracer;
    // if a call's end isn't known, the weakest assumption is that it was suspended
    let suspended = events.endSeq[row] === 0 || (flags & Flag.async) !== 0;
    if (role === Role.web)
      return suspended
        ? this.suspendedWeb(row)
        : (1 << Stack.running) | (isStorage(PART_OF_OP[events.op[row]!]!) ? 1 << Stack.storage : 0);
    const { turns } = this;
    if (turns.length) {
      const seq = events.seq[row]!;
      while (this.turn < turns.length && turns[this.turn]! <= seq) this.turn++;
      // JSPI leaves no mark on VFS calls, but the event loop ran while this one was open
      if (this.turn < turns.length && turns[this.turn]! < events.endSeq[row]!) suspended = true;
    }
    return (
      (1 << Stack.engine) |
      (role === Role.vfs ? 1 << Stack.vfs : 0) |
      (suspended ? 0 : 1 << Stack.running)
    );
  }

  /**
   * Stacks of a suspended web call. Lock requests and waits only matter as long as the call that
   * they serve, so their end is cut.
   */
  private suspendedWeb(row: number): number {
    const { events } = this;
    const part = PART_OF_OP[events.op[row]!]!;
    const owners = (this.owners ??= ownersOf(this.thread));
    const serves = owners.engine(row);
    const direct = serves >= 0 && !isVfsOp(events.op[serves]!);
    const storage = isStorage(part);
    if (storage && this.app.has(events.object[row]!)) return 1 << Stack.storage;
    if (!storage && (part === PART.lock || part === WAIT)) {
      if (serves < 0) return 0; // a lock that the app itself requested
      this.cuts ??= new Float64Array(events.count).fill(NaN);
      this.cuts[row] = Math.min(this.endOf(row), this.endOf(serves));
    }
    const transaction = part === PART.idbTransaction;
    return (
      (1 << (transaction ? Stack.transaction : Stack.request)) |
      (direct ? 1 << (transaction ? Stack.directTransaction : Stack.directRequest) : 0) |
      (storage ? 1 << Stack.storage : 0)
    );
  }
}

/**
 * Time of the last event that had begun at a sequence number, microseconds; -Infinity = all are
 * later.
 */
export function timeOf({ events }: ThreadStore, seq: number): number {
  const behind = lowerBound(events.seq, seq + 1, events.count);
  return behind ? events.t0[behind - 1]! : -Infinity;
}
