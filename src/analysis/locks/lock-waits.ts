/**
 * Which waits for locks count as such, and when a lock blocked a thread. A wait counts if a
 * recorded connection, thread, or tab held the lock, if the request was refused (including
 * SQLITE_BUSY), or if it took long without a recorded holder.
 */
import { UNSEEN_HOLDER_US } from '../../sqlite/rule-limits.ts';
import { toNs } from '../../trace/lanes/sweep.ts';
import { firstPlace } from '../../trace/number-columns.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { fact, type Known } from '../core/graph.ts';
import { servedThreads } from '../core/helper-threads.ts';
import { getOrMake } from '../core/maps.ts';
import { owners } from '../core/owners.ts';
import { Outcome } from './lock-columns.ts';
import { locks, type Locks } from './locks.ts';
import type { WaitEdge } from './wait-graph.ts';

export interface LockWait {
  /** Place in `Locks.waits`. */
  wait: number;
  /** One for each thread that held the lock; empty if no recorded thread did. */
  edges: WaitEdge[];
  /**
   * The thread of SQLite that waited: its VFS requested the lock, or a worker that does its storage
   * work did. null: the app itself requested it.
   */
  sqlite: ThreadStore | null;
  /** Its time counts as lockWait: a recorded holder blocked it, or SQLITE_BUSY was answered. */
  isHeld: boolean;
}

/** Those that make up SQLite's time of waiting for locks. */
export const heldFromSqlite = (waits: readonly LockWait[]): LockWait[] =>
  waits.filter(({ sqlite, isHeld }) => sqlite && isHeld);

const NEEDS = { locks, servedThreads, owners };
export const lockWaits = fact('lockWaits', 'waits for locks', NEEDS, lockWaitsOf);

function lockWaitsOf(
  { threads }: TraceStore,
  { locks: { waits, edges, resources }, servedThreads, owners }: Known<typeof NEEDS>,
): LockWait[] {
  const edgesOf = new Map<number, WaitEdge[]>();
  for (const edge of edges)
    if (edge.holder !== edge.waiter || edge.toUs - edge.fromUs >= UNSEEN_HOLDER_US)
      getOrMake(edgesOf, edge.wait, (): WaitEdge[] => []).push(edge);
  const found: LockWait[] = [];
  for (let wait = 0; wait < waits.count; wait++) {
    const own = edgesOf.get(wait) ?? [];
    const long = waits.to[wait]! - waits.from[wait]! >= UNSEEN_HOLDER_US;
    const { kind } = resources[waits.resource[wait]!]!;
    const busy = kind === 'sqlite';
    if (!own.length && !busy && waits.outcome[wait] === Outcome.done && !long) continue;
    const thread = threads[waits.thread[wait]!]!;
    const sqlite =
      owners.of(thread).answering(waits.row[wait]!) >= 0 ? thread : servedThreads[thread.index]!;
    const isHeld = busy || own.some(({ holder, waiter }) => kind !== 'idb' || holder !== waiter);
    found.push({ wait, edges: own, sqlite, isHeld });
  }
  return found;
}

/** When locks blocked a thread. Borders: from, to, from, ..., nanoseconds, ascending, disjoint. */
export interface LockWaitTimes {
  /**
   * While a recorded holder had the lock that the thread waited for, and while BUSY was answered.
   */
  held: Float64Array;
  /** While an SQL call got BUSY repeatedly: from its first refusal to its last attempt. */
  busy: Float64Array;
  /**
   * While another connection's lock blocked it: `held`, and IndexedDB transactions that waited for
   * another thread's.
   */
  blocked: Float64Array;
  /**
   * IndexedDB transaction -> when the last transaction of another thread that it waited for ended,
   * nanoseconds.
   */
  idb: ReadonlyMap<number, number>;
}
export const NO_WAITS: LockWaitTimes = {
  held: new Float64Array(0),
  busy: new Float64Array(0),
  blocked: new Float64Array(0),
  idb: new Map(),
};

/**
 * The parts of a time range in which no lock blocked. Microseconds; begin, end, begin, ...
 * @param blocked borders, as in LockWaitTimes
 */
export function unblocked(blocked: Float64Array, fromUs: number, toUs: number): number[] {
  const spans: number[] = [];
  const end = toNs(toUs);
  let at = toNs(fromUs);
  const first = firstPlace(0, blocked.length, (i) => blocked[i]! > at);
  for (let i = first - (first % 2); i < blocked.length && blocked[i]! < end; i += 2) {
    if (blocked[i]! > at) spans.push(at / 1000, blocked[i]! / 1000);
    at = Math.max(at, blocked[i + 1]!);
  }
  if (at < end) spans.push(at / 1000, end / 1000);
  return spans;
}

/** For the threads of SQLite that waited. */
export const lockWaitTimes = fact(
  'lockWaitTimes',
  'waits for locks',
  { locks, lockWaits },
  ({ threads }, { locks, lockWaits }): ReadonlyMap<ThreadStore, LockWaitTimes> => {
    const waited = new Set(lockWaits.flatMap(({ sqlite }) => sqlite ?? []));
    for (const { thread } of locks.busy) waited.add(threads[thread]!);
    return new Map(
      Array.from(waited, (thread) => {
        const own = lockWaits.filter(({ sqlite }) => sqlite === thread);
        const chains = locks.busy.filter((chain) => chain.thread === thread.index);
        return [
          thread,
          timesOf(
            locks,
            own,
            chains.flatMap(({ tries }) => tries),
            thread,
          ),
        ];
      }),
    );
  },
);

type Span = readonly [from: number, to: number];
function timesOf(
  { waits, resources }: Locks,
  own: readonly LockWait[],
  tries: readonly Span[],
  { index }: ThreadStore,
): LockWaitTimes {
  const held: Span[] = [...tries];
  const queued: Span[] = [];
  const idb = new Map<number, number>();
  for (const { waiter, holder, resource, wait, fromUs, toUs } of own.flatMap((w) => w.edges)) {
    const isIdb = resources[resource]!.kind === 'idb';
    if (isIdb && holder === waiter) continue; // its own transactions queue: that is storage time
    if (!isIdb || waiter !== index) held.push([fromUs, toUs]);
    else {
      queued.push([fromUs, toUs]);
      const transaction = waits.context[wait]!;
      idb.set(transaction, Math.max(idb.get(transaction) ?? 0, toNs(toUs)));
    }
  }
  return {
    held: bordersOf(held),
    busy: bordersOf(tries),
    blocked: bordersOf([...held, ...queued]),
    idb,
  };
}

/** Borders in nanoseconds. @param spans microseconds, in any order; they may overlap */
export function bordersOf(spans: readonly Span[]): Float64Array {
  const borders: number[] = [];
  for (const [from, to] of [...spans].sort((a, b) => a[0] - b[0])) {
    const last = borders.length - 1;
    if (last > 0 && toNs(from) <= borders[last]!)
      borders[last] = Math.max(borders[last]!, toNs(to));
    else borders.push(toNs(from), toNs(to));
  }
  return Float64Array.from(borders);
}
