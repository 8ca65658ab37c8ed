/**
 * Which thread waited for which: a line for each holder of a wait, and one for a wait whose holder
 * wasn't recorded.
 */
import type { IntervalIndex } from '../../trace/lanes/interval-index.ts';
import { toNs } from '../../trace/lanes/sweep.ts';
import type { EventRef, TraceStore } from '../../trace/store.ts';
import { fact, type Known } from '../core/graph.ts';
import { PART } from '../core/time-parts.ts';
import { threadTitles } from '../core/thread-titles.ts';
import {
  modeText,
  Outcome,
  type IntervalColumns,
  type ResourceKind,
} from '../locks/lock-columns.ts';
import { lockWaits, type LockWait } from '../locks/lock-waits.ts';
import { locks } from '../locks/locks.ts';
import type { WaitEdge } from '../locks/wait-graph.ts';
import { pieces } from '../time/thread-times.ts';

export interface WaitLine {
  key: string;
  /** Index in `Locks.waits`, the same for all lines of a wait. */
  wait: number;
  /** What is locked. */
  kind: ResourceKind;
  name: string;
  /** Lane of the waiter, and of the holder if it is known (keys of lock-lanes.ts). */
  waiterLane: string;
  holderLane: string | null;
  waiter: number;
  waiterTitle: string;
  /**
   * The thread of SQLite that waited: this one, or the one whose storage work it does; null: the
   * app itself requested the lock.
   */
  sqlite: number | null;
  /** A recorded holder blocked it, or SQLITE_BUSY was answered. */
  isHeld: boolean;
  /** Thread; null if no recorded thread held it. */
  holder: number | null;
  holderTitle: string | null;
  /**
   * SHARED..EXCLUSIVE, shared, exclusive, readonly, readwrite: the requested one, and the holder's
   * strongest.
   */
  asked: string;
  held: string | null;
  outcome: 'granted' | 'refused' | 'still waiting';
  /**
   * The part of the wait that this holder caused, or the whole wait if there isn't one.
   * Microseconds.
   */
  fromUs: number;
  toUs: number;
  /** How much of it the holder held the lock, and how often; null without a holder. */
  heldUs: number | null;
  holds: number | null;
  /**
   * How much of the time while SQL runs this wait takes, microseconds. All lines together are the
   * part `lockWait` of the time partition.
   */
  whileSqlUs: number;
  event: EventRef;
  holdEvent: EventRef | null;
}
const OUTCOMES = {
  [Outcome.done]: 'granted',
  [Outcome.refused]: 'refused',
  [Outcome.open]: 'still waiting',
} as const;

const NEEDS = { locks, lockWaits, pieces };
/** In order of begin. */
export const waitLines = fact('waitLines', 'waits for locks', NEEDS, waitLinesOf);

function waitLinesOf(
  store: TraceStore,
  { locks: all, lockWaits, pieces }: Known<typeof NEEDS>,
): WaitLine[] {
  const { waits, holds, resources } = all;
  const titles = threadTitles(store);
  const ref = (columns: IntervalColumns, i: number): EventRef =>
    store.threads[columns.thread[i]!]!.ref(columns.row[i]!);
  const line = ({ wait, sqlite, isHeld }: LockWait, edge: WaitEdge | null): WaitLine => {
    const [waiter, resource] = [waits.thread[wait]!, waits.resource[wait]!];
    const { kind, name } = resources[resource]!;
    const event = ref(waits, wait);
    return {
      key: `${event.thread}:${event.seq}:${edge?.holder ?? '-'}`,
      wait,
      kind,
      name,
      waiter,
      waiterTitle: titles[waiter]!,
      waiterLane: `${waiter}:${resource}`,
      sqlite: sqlite && sqlite.index,
      isHeld,
      holder: edge && edge.holder,
      holderTitle: edge && titles[edge.holder]!,
      holderLane: edge && `${edge.holder}:${resource}`,
      asked: modeText(kind, waits.mode[wait]!),
      held:
        edge && modeText(kind, Math.max(holds.mode[edge.firstHold]!, holds.mode[edge.lastHold]!)),
      outcome: OUTCOMES[waits.outcome[wait] as 0 | 1 | 2],
      fromUs: edge ? edge.fromUs : waits.from[wait]!,
      toUs: edge ? edge.toUs : waits.to[wait]!,
      heldUs: edge && edge.heldUs,
      holds: edge && edge.holds,
      whileSqlUs: 0,
      event,
      holdEvent: edge && ref(holds, edge.firstHold),
    };
  };
  const lines = lockWaits.flatMap((one) =>
    one.edges.length ? one.edges.map((edge) => line(one, edge)) : [line(one, null)],
  );
  lines.sort((a, b) => a.fromUs - b.fromUs);
  for (const thread of store.threads) {
    const own = lines.filter((one) => one.sqlite === thread.index);
    if (own.length) share(pieces.of(thread).index, own, waits);
  }
  return lines;
}

/**
 * Divide a thread's time of waiting for locks among its lines: each moment goes to the first line
 * that covers it, else to one whose wait does.
 */
function share(index: IntervalIndex, lines: readonly WaitLine[], waits: IntervalColumns): void {
  const spans = lines.map((line) => ({
    line,
    from: toNs(line.fromUs),
    to: toNs(line.toUs),
    waitFrom: toNs(waits.from[line.wait]!),
    waitTo: toNs(waits.to[line.wait]!),
    ns: 0,
  }));
  spans.sort((a, b) => a.waitFrom - b.waitFrom);
  let live: typeof spans = [];
  let next = 0;
  for (let i = 0; i < index.count; i++) {
    if (index.kind[i] !== PART.lockWait) continue;
    let at = index.startOf(i);
    const end = index.endOf(i);
    live = live.filter(({ waitTo }) => waitTo > at);
    for (; next < spans.length && spans[next]!.waitFrom < end; next++) live.push(spans[next]!);
    while (at < end) {
      const cover = live.find(({ from, to }) => from <= at && at < to);
      const span = cover ?? live.find(({ waitFrom, waitTo }) => waitFrom <= at && at < waitTo);
      if (!span) break;
      const behind = live.filter(({ from }) => from > at).map(({ from }) => from);
      const until = Math.min(end, ...(cover ? [cover.to] : [span.waitTo, ...behind]));
      span.ns += until - at;
      at = until;
    }
  }
  for (const { line, ns } of spans) line.whileSqlUs = ns / 1000;
}
