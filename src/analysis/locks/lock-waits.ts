/**
 * Which waits for locks count as such, and when a lock was in the way of a thread. A wait counts where a recorded connection, thread or
 * tab held the lock, where the request was refused (SQLITE_BUSY too), or where it took long though no recorded holder is known.
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
  /** One for each thread that held the lock; empty where none did that is recorded. */
  edges: WaitEdge[];
  /** The thread of SQLite that waited: its VFS asked for the lock, or a worker that does its storage did. null: the app itself asked. */
  sqlite: ThreadStore | null;
  /** Its time counts as lockWait: a recorded holder was in the way, or SQLITE_BUSY was answered. */
  isHeld: boolean;
}

/** Those that SQLite's time of waiting for locks is made of. */
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

/** When locks were in the way of a thread. Borders: from, to, from, ..., nanoseconds, ascending, disjoint. */
export interface LockWaitTimes {
  /** While a recorded holder had the lock that the thread waited for, and while BUSY was answered. */
  held: Float64Array;
  /** While an SQL call was answered BUSY again and again: from its first refusal to its last attempt. */
  busy: Float64Array;
  /** While a lock of another connection was in the way: `held`, and transactions of IndexedDB behind those of another thread. */
  blocked: Float64Array;
  /** IndexedDB transaction -> when the last one of another thread ended that it waited for, nanoseconds. */
  idb: ReadonlyMap<number, number>;
}
export const NO_WAITS: LockWaitTimes = {
  held: new Float64Array(0),
  busy: new Float64Array(0),
  blocked: new Float64Array(0),
  idb: new Map(),
};

/**
 * The parts of a time range in which no lock was in the way. Microseconds; begin, end, begin, ...
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

/** Of the threads of SQLite that waited. */
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
    if (isIdb && holder === waiter) continue; // its own transactions queue: that is storage
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
