/**
 * Locks of all threads and tabs on one timeline: which thread held a lock while another waited.
 *
 *   tab 1   [========= holds "app.db" exclusive =========]
 *   tab 2            [~~~~~~ waits ~~~~~~~~~~~~~~~~~~~~~~][== holds ==]
 *   edge             [------ tab 2 waits for tab 1 ------]
 *
 * A wait is a Web Lock request, a createSyncAccessHandle that was refused, an IndexedDB transaction
 * behind another on the same stores, or a chain of SQLITE_BUSY answers (busy.ts). Browsers and VFSs
 * choose the order of grants. An edge means that the two exclude each other and existed at the same
 * time. Times of two threads compare to within `toleranceUs`.
 */
import { coarsestStep } from '../core/time-range.ts';
import type { TraceStore } from '../../trace/store.ts';
import { fact, type Known } from '../core/graph.ts';
import { busyChains, type BusyChain } from './busy.ts';
import {
  conflicts,
  type IntervalColumns,
  Mode,
  Outcome,
  type LockResource,
  type ResourceKind,
} from './lock-columns.ts';
import { whatPagesDid } from './meanwhile.ts';
import { scanLocks, type LockScan } from './lock-scan.ts';
import { rowsByOperation } from '../core/rows-by-operation.ts';
import { originOfThread } from '../core/thread-origin.ts';
import {
  cyclesOf,
  stuckWaits,
  type StuckWait,
  type WaitCycle,
  type WaitEdge,
} from './wait-graph.ts';

/** A lock that its thread didn't release before it ended. */
export interface LeftBehind {
  /** Place in `holds`. */
  hold: number;
  thread: number;
  /** Why the thread ended. */
  reason: string;
  /** Waits for it after that, which shouldn't exist. */
  laterWaits: number;
}

export interface Locks {
  resources: LockResource[];
  holds: IntervalColumns;
  waits: IntervalColumns;
  edges: WaitEdge[];
  busy: BusyChain[];
  cycles: WaitCycle[];
  stuck: StuckWait[];
  leftBehind: LeftBehind[];
  /** The coarsest clock step of the threads; null = not known. */
  toleranceUs: number | null;
}

/**
 * Indices in `holds` or `waits` of those on resources of a kind, by thread in the order of calls.
 */
export function placesOf(
  { resources }: Locks,
  { resource, thread, row, count }: IntervalColumns,
  kind: ResourceKind,
): number[] {
  const found: number[] = [];
  for (let i = 0; i < count; i++) if (resources[resource[i]!]!.kind === kind) found.push(i);
  return found.sort((a, b) => thread[a]! - thread[b]! || row[a]! - row[b]!);
}

const NEEDS = { busyChains, whatPagesDid, rowsByOperation };
export const locks = fact('locks', 'holds and waits', NEEDS, locksOf);

function locksOf(
  store: TraceStore,
  { busyChains: busy, whatPagesDid: did, rowsByOperation }: Known<typeof NEEDS>,
): Locks {
  const scan = scanLocks(store, rowsByOperation);
  addSqliteWaits(scan, busy, store);
  const edges = [...edgesOf(scan), ...idbEdges(scan)].sort((a, b) => a.fromUs - b.fromUs);
  const { resources, holds, waits } = scan;
  return {
    resources,
    holds,
    waits,
    edges,
    busy,
    cycles: cyclesOf(edges, waits),
    stuck: stuckWaits(edges, waits, did),
    leftBehind: leftBehind(store, scan),
    toleranceUs: coarsestStep(store.threads),
  };
}

function addSqliteWaits(
  { resource, waits }: LockScan,
  busy: readonly BusyChain[],
  store: TraceStore,
): void {
  for (const { thread, context, path, level, granted, fromUs, toUs, firstRow } of busy) {
    if (level === 0) continue;
    const place = resource('sqlite', path, originOfThread(store.threads[thread]!));
    waits.push(
      thread,
      context,
      place,
      level,
      granted ? Outcome.done : Outcome.refused,
      fromUs,
      toUs,
      firstRow,
    );
  }
}

/**
 * Edges of Web Locks, access handles, and SQLite's locks: for every resource, waits and the holds
 * that they meet.
 */
function edgesOf(scan: LockScan): WaitEdge[] {
  const { resources, holds, waits } = scan;
  const edges: WaitEdge[] = [];
  const isShared = (place: number): boolean => resources[place]!.kind !== 'idb';
  const waitsOf = waits.byResource(resources.length, isShared);
  // most resources have a hold for each transaction, but no waits
  const holdsOf = holds.byResource(resources.length, (place) => waitsOf[place]!.length > 0);
  waitsOf.forEach((list, place) => {
    const { kind } = resources[place]!;
    const held = holdsOf[place]!;
    let live: number[] = [];
    let next = 0;
    for (const wait of list) {
      const from = waits.from[wait]!;
      const to = waits.to[wait]!;
      live = live.filter((h) => holds.to[h]! > from);
      for (; next < held.length && holds.from[held[next]!]! <= from; next++)
        if (holds.to[held[next]!]! > from) live.push(held[next]!);
      const mine = new Map<number, WaitEdge>();
      const meet = (hold: number): void => {
        const own = holds.thread[hold] === waits.thread[wait];
        if (own && kind === 'sqlite' && holds.context[hold] === waits.context[wait]) return;
        if (conflicts(kind, waits.mode[wait]!, holds.mode[hold]!))
          addTo(mine, edges, wait, hold, waits, holds);
      };
      for (const hold of live) meet(hold);
      for (let i = next; i < held.length && holds.from[held[i]!]! < to; i++) meet(held[i]!);
    }
  });
  return edges;
}

function addTo(
  mine: Map<number, WaitEdge>,
  edges: WaitEdge[],
  wait: number,
  hold: number,
  waits: IntervalColumns,
  holds: IntervalColumns,
): void {
  const fromUs = Math.max(waits.from[wait]!, holds.from[hold]!);
  // a refusal is a moment, caused by its holders at that moment
  const toUs = Math.min(waits.to[wait]!, holds.to[hold]!);
  if (toUs < fromUs || (toUs === fromUs && waits.from[wait] !== waits.to[wait])) return;
  const holder = holds.thread[hold]!;
  const edge = mine.get(holder);
  if (edge) {
    edge.lastHold = hold;
    edge.holds++;
    edge.heldUs += toUs - Math.max(fromUs, Math.min(edge.toUs, toUs));
    edge.toUs = Math.max(edge.toUs, toUs);
    return;
  }
  const made: WaitEdge = {
    wait,
    waiter: waits.thread[wait]!,
    holder,
    resource: waits.resource[wait]!,
    firstHold: hold,
    lastHold: hold,
    holds: 1,
    fromUs,
    toUs,
    heldUs: toUs - fromUs,
  };
  mine.set(holder, made);
  edges.push(made);
}

/**
 * IndexedDB: transactions start in order of creation if their stores overlap and one of them
 * writes. Adds the waits, from the later one's call to the earlier one's end.
 */
function idbEdges({ resources, holds, waits, stores }: LockScan): WaitEdge[] {
  const edges: WaitEdge[] = [];
  const isIdb = (place: number): boolean => resources[place]!.kind === 'idb';
  holds.byResource(resources.length, isIdb).forEach((list, place) => {
    let live: number[] = [];
    for (const later of list) {
      const from = holds.from[later]!;
      live = live.filter((h) => holds.to[h]! > from);
      const ahead = live.filter(
        (h) =>
          (holds.mode[h] === Mode.exclusive || holds.mode[later] === Mode.exclusive) &&
          meet(stores.get(h), stores.get(later)),
      );
      live.push(later);
      if (ahead.length === 0) continue;
      const to = Math.min(holds.to[later]!, Math.max(...ahead.map((h) => holds.to[h]!)));
      if (to <= from) continue;
      const outcome =
        to === holds.to[later] && holds.outcome[later] === Outcome.open
          ? Outcome.open
          : Outcome.done;
      const wait = waits.push(
        holds.thread[later]!,
        holds.context[later]!,
        place,
        holds.mode[later]!,
        outcome,
        from,
        to,
        holds.row[later]!,
      );
      const mine = new Map<number, WaitEdge>();
      for (const hold of ahead) addTo(mine, edges, wait, hold, waits, holds);
    }
  });
  return edges;
}
/** The scope of a transaction without requests isn't known, so it doesn't count as waiting. */
function meet(a: ReadonlySet<string> | undefined, b: ReadonlySet<string> | undefined): boolean {
  if (!a || !b) return false;
  for (const store of a) if (b.has(store)) return true;
  return false;
}

function leftBehind(store: TraceStore, { holds, waits }: LockScan): LeftBehind[] {
  const found: LeftBehind[] = [];
  for (let hold = 0; hold < holds.count; hold++) {
    if (holds.outcome[hold] !== Outcome.open) continue;
    const thread = store.threads[holds.thread[hold]!]!;
    if (thread.ended === null || thread.ended === 'stopped') continue;
    let laterWaits = 0;
    for (let w = 0; w < waits.count; w++)
      if (
        waits.resource[w] === holds.resource[hold] &&
        waits.thread[w] !== thread.index &&
        waits.to[w]! > holds.to[hold]!
      )
        laterWaits++;
    found.push({ hold, thread: thread.index, reason: thread.ended, laterWaits });
  }
  return found;
}
