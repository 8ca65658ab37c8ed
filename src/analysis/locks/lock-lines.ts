/** Who waited for whom, SQLITE_BUSY chains, locks left behind, and waits that look like a deadlock, as lines of their tables. */
import { resultName } from '../../sqlite/result-codes.ts';
import { LOCK_LEVELS } from '../../sqlite/constants.ts';
import type { EventRef, TraceStore } from '../../trace/store.ts';
import { threadTitles } from '../core/thread-titles.ts';
import { fact } from '../core/graph.ts';
import { modeText, Outcome, type IntervalColumns, type ResourceKind } from './lock-columns.ts';
import { locks, type Locks } from './locks.ts';
import type { WaitEdge } from './wait-graph.ts';

/** What is locked. */
interface LockedThing {
  kind: ResourceKind;
  name: string;
  /** Lane of the waiter, and of the holder where that is known (keys of lock-lanes.ts). */
  waiterLane: string;
  holderLane: string | null;
}
export interface WaitLine extends LockedThing {
  key: string;
  waiter: number;
  waiterTitle: string;
  /** Thread; null where nobody recorded held it. */
  holder: number | null;
  holderTitle: string | null;
  /** SHARED..EXCLUSIVE, shared, exclusive, readonly, readwrite: asked for, and the holder's strongest. */
  asked: string;
  held: string | null;
  outcome: 'granted' | 'refused' | 'still waiting';
  /** Of the wait as far as this holder was in its way; without a holder the whole wait. Microseconds. */
  fromUs: number;
  toUs: number;
  /** How much of that the holder held, and how often; null without a holder. */
  heldUs: number | null;
  holds: number | null;
  event: EventRef;
  holdEvent: EventRef | null;
}
export interface BusyLine {
  key: string;
  thread: number;
  threadTitle: string;
  path: string;
  /** Asked for; null where only the step's answer was seen. */
  level: string | null;
  refusals: number;
  steps: number;
  codes: string[];
  fromUs: number;
  toUs: number;
  granted: boolean;
  first: EventRef;
  last: EventRef;
}
export interface LeftLine {
  key: string;
  thread: number;
  threadTitle: string;
  kind: ResourceKind;
  name: string;
  mode: string;
  reason: string;
  laterWaits: number;
  sinceUs: number;
  endUs: number;
  event: EventRef;
}
/** A cycle, or a long wait for a holder that did little. */
export interface DeadlockLine {
  key: string;
  what: 'cycle' | 'long wait';
  threads: string[];
  names: string[];
  fromUs: number;
  toUs: number;
  /** Of a long wait: calls that the holder began meanwhile, and how long before the wait's end its last had ended. */
  holderCalls: number | null;
  holderIdleUs: number | null;
  events: EventRef[];
}
const OUTCOMES = {
  [Outcome.done]: 'granted',
  [Outcome.refused]: 'refused',
  [Outcome.open]: 'still waiting',
} as const;

/** The rows of the tables of locks. */
class LockLines {
  readonly titles: string[];
  constructor(
    private readonly store: TraceStore,
    readonly locks: Locks,
  ) {
    this.titles = threadTitles(store);
  }
  ref = (columns: IntervalColumns, i: number): EventRef =>
    this.eventOf(columns.thread[i]!, columns.row[i]!);
  eventOf = (thread: number, row: number): EventRef => this.store.threads[thread]!.ref(row);

  /** One line for each holder of a wait, and one for a wait whose holder was not recorded. */
  waits(): WaitLine[] {
    const { edges, waits, holds, resources } = this.locks;
    const line = (wait: number, edge: WaitEdge | null): WaitLine => {
      const [waiter, resource] = [waits.thread[wait]!, waits.resource[wait]!];
      const { kind, name } = resources[resource]!;
      const event = this.ref(waits, wait);
      return {
        key: `${event.thread}:${event.seq}:${edge?.holder ?? '-'}`,
        kind,
        name,
        waiter,
        waiterTitle: this.titles[waiter]!,
        waiterLane: `${waiter}:${resource}`,
        holder: edge && edge.holder,
        holderTitle: edge && this.titles[edge.holder]!,
        holderLane: edge && `${edge.holder}:${resource}`,
        asked: modeText(kind, waits.mode[wait]!),
        held:
          edge && modeText(kind, Math.max(holds.mode[edge.firstHold]!, holds.mode[edge.lastHold]!)),
        outcome: OUTCOMES[waits.outcome[wait] as 0 | 1 | 2],
        fromUs: edge ? edge.fromUs : waits.from[wait]!,
        toUs: edge ? edge.toUs : waits.to[wait]!,
        heldUs: edge && edge.heldUs,
        holds: edge && edge.holds,
        event,
        holdEvent: edge && this.ref(holds, edge.firstHold),
      };
    };
    const lines = edges.map((edge) => line(edge.wait, edge));
    const explained = new Set(edges.map(({ wait }) => wait));
    for (let wait = 0; wait < waits.count; wait++)
      if (!explained.has(wait)) lines.push(line(wait, null));
    return lines;
  }

  busy(): BusyLine[] {
    return this.locks.busy.map((chain): BusyLine => {
      const { thread, path, level, refusals, steps, fromUs, toUs, granted } = chain;
      const first = this.eventOf(thread, chain.firstRow);
      return {
        key: `${thread}:${first.seq}`,
        thread,
        threadTitle: this.titles[thread]!,
        path,
        refusals,
        steps,
        fromUs,
        toUs,
        granted,
        level: level ? (LOCK_LEVELS[level] ?? `level ${level}`) : null,
        codes: chain.codes.map((code) => resultName(code)),
        first,
        last: this.eventOf(thread, chain.lastRow),
      };
    });
  }

  left(): LeftLine[] {
    const { holds, resources } = this.locks;
    return this.locks.leftBehind.map(({ hold, thread, reason, laterWaits }): LeftLine => {
      const { kind, name } = resources[holds.resource[hold]!]!;
      const event = this.ref(holds, hold);
      return {
        key: `${thread}:${event.seq}:${holds.resource[hold]!}`,
        thread,
        threadTitle: this.titles[thread]!,
        kind,
        name,
        reason,
        laterWaits,
        mode: modeText(kind, holds.mode[hold]!),
        sinceUs: holds.from[hold]!,
        endUs: holds.to[hold]!,
        event,
      };
    });
  }

  deadlocks(): DeadlockLine[] {
    const { cycles, stuck, edges, waits, resources } = this.locks;
    const nameOf = (edge: number): string => resources[edges[edge]!.resource]!.name;
    const eventOf = (edge: number): EventRef => this.ref(waits, edges[edge]!.wait);
    return [
      ...cycles.map((c): DeadlockLine => ({
        key: `cycle ${c.edges.join()}`,
        what: 'cycle',
        threads: c.threads.map((t) => this.titles[t]!),
        names: [...new Set(c.edges.map(nameOf))],
        fromUs: c.fromUs,
        toUs: c.toUs,
        holderCalls: null,
        holderIdleUs: null,
        events: c.edges.map(eventOf),
      })),
      ...stuck.map((s): DeadlockLine => ({
        key: `wait ${s.edge}`,
        what: 'long wait',
        names: [nameOf(s.edge)],
        events: [eventOf(s.edge)],
        threads: [edges[s.edge]!.waiter, edges[s.edge]!.holder].map((t) => this.titles[t]!),
        fromUs: s.fromUs,
        toUs: s.toUs,
        holderCalls: s.holderCalls,
        holderIdleUs: s.holderIdleUs,
      })),
    ];
  }
}

export const lockLines = fact(
  'lockLines',
  'waits for locks',
  { locks },
  (store, known) => new LockLines(store, known.locks),
);
