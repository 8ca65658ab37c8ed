/** Queries of the Locks view: who waited for whom, SQLITE_BUSY chains, locks left behind, waits that look like a deadlock. */
import { resultName } from '../../../sqlite/result-codes.ts';
import {
  modeText,
  Outcome,
  type IntervalColumns,
  type ResourceKind,
} from '../../../analysis/locks/lock-columns.ts';
import { arrowsOf, type WaitArrow } from '../../../analysis/locks/wait-arrows.ts';
import { LOCK_LEVELS } from '../../../sqlite/constants.ts';
import type { EventRef, TraceStore } from '../../../trace/store.ts';
import { answerOf } from './context.ts';
import { threadTitles } from './thread-titles.ts';
import { lockLanes, shownLanes, type LockLane } from './lock-lanes.ts';
import { fact } from '../../../analysis/graph.ts';
import { locks, type Locks } from '../../../analysis/locks/locks.ts';

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
/** Lists are cut to their longest; `totals` says how many there are. */
export interface LocksAnswer {
  lanes: LockLane[];
  moreLanes: number;
  waits: WaitLine[];
  arrows: WaitArrow[];
  /** By place in the trace's threads. */
  titles: string[];
  busy: BusyLine[];
  left: LeftLine[];
  deadlocks: DeadlockLine[];
  totals: { waits: number; busy: number; left: number; deadlocks: number };
  /** Times of two threads compare to within this, microseconds; null = not known. */
  toleranceUs: number | null;
}

const MOST_LINES = 5000;
/** A request that nobody recorded stood in the way of is listed from this length on: it takes a while even when all is free. */
export const UNSEEN_HOLDER_US = 10_000;
const OUTCOMES = {
  [Outcome.done]: 'granted',
  [Outcome.refused]: 'refused',
  [Outcome.open]: 'still waiting',
} as const;

const longest = <T extends { fromUs: number; toUs: number }>(all: T[], most: number): T[] =>
  all.length <= most
    ? all
    : [...all].sort((a, b) => b.toUs - b.fromUs - (a.toUs - a.fromUs)).slice(0, most);
const byTime = <T extends { fromUs: number }>(all: T[]): T[] =>
  all.sort((a, b) => a.fromUs - b.fromUs);

class Words {
  readonly titles: string[];
  constructor(
    private readonly store: TraceStore,
    readonly locks: Locks,
  ) {
    this.titles = threadTitles(store);
  }
  ref = (columns: IntervalColumns, i: number): EventRef =>
    this.store.threads[columns.thread[i]!]!.ref(columns.row[i]!);

  /** One line for each holder of a wait, and one for a wait whose holder was not recorded. */
  waits(): WaitLine[] {
    const { edges, waits, holds, resources } = this.locks;
    const lines: WaitLine[] = [];
    const explained = new Uint8Array(waits.count);
    const start = (
      wait: number,
    ): Omit<
      WaitLine,
      'key' | 'holder' | 'holderTitle' | 'held' | 'heldUs' | 'holds' | 'holdEvent' | 'holderLane'
    > => {
      const [waiter, resource] = [waits.thread[wait]!, waits.resource[wait]!];
      const { kind, name } = resources[resource]!;
      return {
        kind,
        name,
        waiter,
        waiterTitle: this.titles[waiter]!,
        waiterLane: `${waiter}:${resource}`,
        asked: modeText(kind, waits.mode[wait]!),
        outcome: OUTCOMES[waits.outcome[wait] as 0 | 1 | 2],
        fromUs: waits.from[wait]!,
        toUs: waits.to[wait]!,
        event: this.ref(waits, wait),
      };
    };
    for (const edge of edges) {
      explained[edge.wait] = 1;
      const { kind } = resources[edge.resource]!;
      const line = start(edge.wait);
      lines.push({
        ...line,
        key: `${line.event.thread}:${line.event.seq}:${edge.holder}`,
        fromUs: edge.fromUs,
        toUs: edge.toUs,
        holder: edge.holder,
        holderTitle: this.titles[edge.holder]!,
        holderLane: `${edge.holder}:${edge.resource}`,
        held: modeText(kind, Math.max(holds.mode[edge.firstHold]!, holds.mode[edge.lastHold]!)),
        heldUs: edge.heldUs,
        holds: edge.holds,
        holdEvent: this.ref(holds, edge.firstHold),
      });
    }
    for (let wait = 0; wait < waits.count; wait++) {
      if (explained[wait]) continue;
      if (
        waits.outcome[wait] === Outcome.done &&
        waits.to[wait]! - waits.from[wait]! < UNSEEN_HOLDER_US
      )
        continue;
      const line = start(wait);
      lines.push({
        ...line,
        key: `${line.event.thread}:${line.event.seq}:-`,
        holder: null,
        holderTitle: null,
        holderLane: null,
        held: null,
        heldUs: null,
        holds: null,
        holdEvent: null,
      });
    }
    return lines;
  }

  busy(): BusyLine[] {
    return this.locks.busy.map((chain): BusyLine => {
      const { thread, path, level, refusals, steps, fromUs, toUs, granted } = chain;
      const owner = this.store.threads[thread]!;
      const first = owner.ref(chain.firstRow);
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
        last: owner.ref(chain.lastRow),
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

const locksAnswer = fact(
  'locksAnswer',
  'holds and waits',
  { locks, lockLanes },
  (store, { locks: found, lockLanes }): LocksAnswer => {
    const words = new Words(store, found);
    const [waits, busy, deadlocks] = [words.waits(), words.busy(), words.deadlocks()];
    const left = words.left().sort((a, b) => b.laterWaits - a.laterWaits);
    const { lanes, more } = shownLanes(lockLanes);
    return {
      lanes,
      moreLanes: more,
      arrows: arrowsOf(waits),
      titles: words.titles,
      toleranceUs: found.toleranceUs,
      waits: byTime(longest(waits, MOST_LINES)),
      busy: byTime(longest(busy, MOST_LINES)),
      left: left.slice(0, MOST_LINES),
      deadlocks: byTime(longest(deadlocks, MOST_LINES)),
      totals: {
        waits: waits.length,
        busy: busy.length,
        left: left.length,
        deadlocks: deadlocks.length,
      },
    };
  },
);

export const lockQueries = {
  locks: answerOf(locksAnswer),
};
