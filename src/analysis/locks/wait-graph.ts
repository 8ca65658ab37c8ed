/**
 * Who waits for whom, as a graph over threads: cycles (no thread in one can go on until a timeout or a refusal breaks it), and waits that
 * last while the holder does nothing.
 */
import { opTable } from '../../event/operations.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { Outcome, type IntervalColumns } from './lock-columns.ts';

/** Calls of SQL, a VFS or storage: what a holder does. Lock requests, holds and waits are not among them. */
export const WORK = opTable(
  ({ layer, api }) =>
    layer === 'sql' || layer === 'vfs' || (layer === 'web' && api !== 'locks' && api !== 'atomics'),
);

/** Of one wait and one holding thread, all that thread's holds together. */
export interface WaitEdge {
  /** Place in `waits`. */
  wait: number;
  /** Threads by place in TraceStore.threads. */
  waiter: number;
  holder: number;
  resource: number;
  /** Place in `holds` of the first and the last of them. */
  firstHold: number;
  lastHold: number;
  holds: number;
  /** From the first moment to the last, and how much of that was held. Microseconds. */
  fromUs: number;
  toUs: number;
  heldUs: number;
}

export interface WaitCycle {
  /** Threads in order: each waits for the next, the last for the first. One thread alone waits for a lock that it holds itself. */
  threads: number[];
  /** Places in the list of edges, in that order. */
  edges: number[];
  /** While all of them waited. Microseconds. */
  fromUs: number;
  toUs: number;
}

export interface StuckWait {
  /** Place in the list of edges. */
  edge: number;
  /** Microseconds. */
  fromUs: number;
  toUs: number;
  /** SQL, VFS and storage calls that the holder began meanwhile. */
  holderCalls: number;
  /** The holder's last such call before ended so long before the wait's end; null where there was none. */
  holderIdleUs: number | null;
}

/** More edges at once than this are a crowd on one lock, in which only the newest are followed. */
const CROWD = 64;

/** @param edges in order of their begin */
export function cyclesOf(edges: readonly WaitEdge[], waits: IntervalColumns): WaitCycle[] {
  const found: WaitCycle[] = [];
  const seen = new Set<string>();
  let live: number[] = [];
  const endOf = (place: number): number => waits.to[edges[place]!.wait]!;
  edges.forEach((edge, place) => {
    live = live.filter((other) => edges[other]!.toUs > edge.fromUs).slice(-CROWD);
    live.push(place);
    const path = pathTo(edges, live, edge.holder, edge.waiter, place);
    if (!path) return;
    const ring = [place, ...path];
    // waiting for a lock of one's own is how a queue looks, unless it never ends
    if (
      ring.length === 1 &&
      (waits.outcome[edge.wait] !== Outcome.open || edge.toUs < waits.to[edge.wait]!)
    )
      return;
    // a deadlock ends when one of them gives up: where a lock was granted first, its holder waited for none of the others
    const first = ring.reduce((a, b) => (endOf(b) < endOf(a) ? b : a));
    if (waits.outcome[edges[first]!.wait] === Outcome.done) return;
    const fromUs = Math.max(...ring.map((e) => edges[e]!.fromUs));
    const toUs = Math.min(...ring.map((e) => edges[e]!.toUs));
    const key = [...ring].sort((a, b) => a - b).join();
    if (toUs <= fromUs || seen.has(key)) return;
    seen.add(key);
    found.push({ threads: ring.map((e) => edges[e]!.waiter), edges: ring, fromUs, toUs });
  });
  return found;
}

/** Edges from thread `at` to thread `goal` among the live ones, or null; [] where they are one. */
function pathTo(
  edges: readonly WaitEdge[],
  live: readonly number[],
  at: number,
  goal: number,
  closing: number,
): number[] | null {
  const visited = new Set<number>();
  const go = (thread: number): number[] | null => {
    if (thread === goal) return [];
    visited.add(thread);
    for (const place of live) {
      const edge = edges[place]!;
      if (place === closing || edge.waiter !== thread || visited.has(edge.holder)) continue;
      const rest = go(edge.holder);
      if (rest) return [place, ...rest];
    }
    return null;
  };
  return go(at);
}

/** Waits from this length on: what did the holder do meanwhile? */
export const STUCK_US = 2_000_000;

/** Long waits, with what the holder did meanwhile. */
export function stuckWaits(
  store: TraceStore,
  edges: readonly WaitEdge[],
  waits: IntervalColumns,
): StuckWait[] {
  const found: StuckWait[] = [];
  edges.forEach((edge, place) => {
    if (
      edge.toUs - edge.fromUs < STUCK_US ||
      waits.to[edge.wait]! - waits.from[edge.wait]! < STUCK_US
    )
      return;
    const { calls, lastEnd } = callsWithin(store.threads[edge.holder]!, edge.fromUs, edge.toUs);
    const holderIdleUs = lastEnd === null ? null : Math.max(0, edge.toUs - lastEnd);
    found.push({
      edge: place,
      fromUs: edge.fromUs,
      toUs: edge.toUs,
      holderCalls: calls,
      holderIdleUs,
    });
  });
  return found;
}

function callsWithin(
  { events }: ThreadStore,
  from: number,
  to: number,
): { calls: number; lastEnd: number | null } {
  let calls = 0;
  let lastEnd: number | null = null;
  const begin = events.lowerBound(from);
  for (let row = begin; row < events.count && events.t0[row]! < to; row++) {
    if (!WORK[events.op[row]!]) continue;
    calls++;
    lastEnd = Math.max(lastEnd ?? -Infinity, events.t0[row]! + events.dur[row]!);
  }
  for (let row = begin - 1; row >= 0 && lastEnd === null; row--)
    if (WORK[events.op[row]!]) lastEnd = events.t0[row]! + events.dur[row]!;
  return { calls, lastEnd };
}
