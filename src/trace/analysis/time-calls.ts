/**
 * What the time partition needs to know of every call of a thread before it sweeps: when it ends, whether it kept the thread to
 * itself (synchronous) or was suspended, and whom it serves. One pass, no object per call.
 */
import type { EventColumns } from '../columns.ts';
import { Flag } from '../event.ts';
import { toNs } from '../sweep.ts';
import { isStorage, PART, PART_OF_OP, Role, ROLE_OF_OP, WAIT } from './time-parts.ts';

/** The stacks that a call lies on while it is open: see time-sweep.ts. Bit i = stack i. */
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
  /** The two again, of those that serve an SQL call with no VFS call between. */
  directRequest: 6,
  directTransaction: 7,
  /** Storage calls of every kind. */
  storage: 8,
} as const;
export const STACKS = 9;

export interface Calls {
  /** Stacks by row, bit by bit; 0 = the row does not matter. */
  stacks: Uint16Array;
  /** When the row's call ends, nanoseconds. */
  end: Float64Array;
  /** Begin of the thread's first event and end of its last, nanoseconds. */
  firstNs: number;
  lastNs: number;
}

/** Row of the call that `row` serves, or -1. Most often it is one of the rows just before. */
export function parentRow(events: EventColumns, row: number): number {
  const parent = events.parent[row]!;
  if (parent === 0) return -1;
  for (let i = row - 1, stop = Math.max(0, row - 8); i >= stop; i--) {
    const seq = events.seq[i]!;
    if (seq === parent) return i;
    if (seq < parent) return -1;
  }
  return events.rowOfSeq(parent);
}

/** Ascending sequence numbers at which asynchronous web calls ended: proof that the thread was back in its event loop. */
function turns(events: EventColumns): Uint32Array {
  const found = new Uint32Array(events.count);
  let n = 0;
  let ascending = true;
  for (let i = 0; i < events.count; i++) {
    if (!(events.flags[i]! & Flag.async) || ROLE_OF_OP[events.op[i]!] !== Role.web || events.endSeq[i] === 0) continue;
    if (n && found[n - 1]! > events.endSeq[i]!) ascending = false;
    found[n++] = events.endSeq[i]!;
  }
  const taken = found.subarray(0, n);
  return ascending ? taken : taken.sort();
}

export function callsOf(events: EventColumns): Calls {
  const { count } = events;
  const stacks = new Uint16Array(count);
  const end = new Float64Array(count);
  let lastNs = count ? -Infinity : 0;
  for (let i = 0; i < count; i++) {
    const t0 = toNs(events.t0[i]!);
    end[i] = events.endSeq[i] === 0 ? Infinity : t0 + Math.max(0, toNs(events.dur[i]!));
    lastNs = Math.max(lastNs, end[i] === Infinity ? t0 : end[i]!);
  }
  const loop = turns(events);
  let turn = 0;
  for (let i = 0; i < count; i++) {
    const op = events.op[i]!;
    const role = ROLE_OF_OP[op]!;
    const open = end[i] === Infinity;
    // the tracer's own work is never asynchronous: whatever came next came after it
    if (open) end[i] = role === Role.tracer && i + 1 < count ? toNs(events.t0[i + 1]!) : lastNs;
    if (role === Role.none || events.flags[i]! & Flag.untimed) continue;
    if (role === Role.tracer) {
      stacks[i] = 1 << Stack.tracer;
      continue;
    }
    // a call whose end is not known makes the weakest claim: that it was suspended
    let suspended = open || (events.flags[i]! & Flag.async) !== 0;
    if (role !== Role.web) {
      const seq = events.seq[i]!;
      while (turn < loop.length && loop[turn]! <= seq) turn++;
      // JSPI leaves no sign on VFS calls: the event loop turned while this one was open
      if (turn < loop.length && loop[turn]! < events.endSeq[i]!) suspended = true;
      stacks[i] = (1 << Stack.engine) | (role === Role.vfs ? 1 << Stack.vfs : 0) | (suspended ? 0 : 1 << Stack.running);
    } else
      stacks[i] = suspended ? suspendedWeb(events, i, end) : (1 << Stack.running) | (isStorage(PART_OF_OP[op]!) ? 1 << Stack.storage : 0);
  }
  return { stacks, end, firstNs: count ? toNs(events.t0[0]!) : 0, lastNs };
}

/** Stacks of a suspended web call. Lock requests and waits matter no longer than the call that they serve: `end` is cut. */
function suspendedWeb(events: EventColumns, row: number, end: Float64Array): number {
  const part = PART_OF_OP[events.op[row]!]!;
  const parent = parentRow(events, row);
  const direct = parent >= 0 && ROLE_OF_OP[events.op[parent]!] === Role.sql;
  const storage = isStorage(part);
  if (!storage && (part === PART.lock || part === WAIT)) {
    if (parent < 0) return 0; // a lock that the app itself is after
    end[row] = Math.min(end[row]!, end[parent]!);
  }
  const transaction = part === PART.idbTransaction;
  return (
    (1 << (transaction ? Stack.transaction : Stack.request)) |
    (direct ? 1 << (transaction ? Stack.directTransaction : Stack.directRequest) : 0) |
    (storage ? 1 << Stack.storage : 0)
  );
}
