/**
 * Waits as a graph over threads: cycles (no thread in one can continue until a timeout or a refusal
 * breaks it), and waits during which the holder does nothing.
 */
import type { Meanwhile, WhatPagesDid } from './meanwhile.ts';
import { Outcome, type IntervalColumns } from './lock-columns.ts';

/** One wait for one holding thread, with all of that thread's holds. */
export interface WaitEdge {
  /** Place in `waits`. */
  wait: number;
  /** Threads by place in TraceStore.threads. */
  waiter: number;
  holder: number;
  resource: number;
  /** Indices in `holds` of the first and the last of them. */
  firstHold: number;
  lastHold: number;
  holds: number;
  /** From the first moment to the last, and how much of that the lock was held. Microseconds. */
  fromUs: number;
  toUs: number;
  heldUs: number;
}

export interface WaitCycle {
  /**
   * Threads in order: each waits for the next, and the last for the first. A single thread waits
   * for a lock that it holds itself.
   */
  threads: number[];
  /** Indices in the list of edges, in that order. */
  edges: number[];
  /** While all of them waited. Microseconds. */
  fromUs: number;
  toUs: number;
}

export interface StuckWait extends Meanwhile {
  /** Place in the list of edges. */
  edge: number;
  /** Microseconds. */
  fromUs: number;
  toUs: number;
}

/**
 * If more edges than this exist at once, many threads wait for one lock, and only the newest edges
 * are followed.
 */
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
    // waiting for one's own lock looks like a queue, unless it never ends
    if (
      ring.length === 1 &&
      (waits.outcome[edge.wait] !== Outcome.open || edge.toUs < waits.to[edge.wait]!)
    )
      return;
    // a deadlock ends when one of them gives up: if a lock was granted first, its holder didn't
    // wait for any of the others
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

/**
 * Edges from thread `at` to thread `goal` among the live ones, or null; [] if they are the same.
 */
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

/** Waits from this length on are checked for what the holder did. */
export const STUCK_US = 2_000_000;

/** Long waits, with what the two pages did during them. */
export function stuckWaits(
  edges: readonly WaitEdge[],
  waits: IntervalColumns,
  did: WhatPagesDid,
): StuckWait[] {
  const found: StuckWait[] = [];
  edges.forEach((edge, place) => {
    const { wait, fromUs, toUs } = edge;
    if (toUs - fromUs < STUCK_US || waits.to[wait]! - waits.from[wait]! < STUCK_US) return;
    found.push({ edge: place, fromUs, toUs, ...did.meanwhile(edge, fromUs, toUs) });
  });
  return found;
}
