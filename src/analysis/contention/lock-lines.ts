/**
 * SQLITE_BUSY chains, locks that weren't released, and possible deadlocks, as lines of their
 * tables.
 */
import { resultName } from '../../sqlite/result-codes.ts';
import { lockLevelText } from '../../sqlite/constants.ts';
import type { EventRef, TraceStore } from '../../trace/store.ts';
import { threadTitles } from '../core/thread-titles.ts';
import { fact } from '../core/graph.ts';
import { modeText, type IntervalColumns, type ResourceKind } from '../locks/lock-columns.ts';
import { locks, type Locks } from '../locks/locks.ts';

export interface BusyLine {
  key: string;
  thread: number;
  threadTitle: string;
  path: string;
  /** The requested level; null if only the step's answer was seen. */
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
  /**
   * For a long wait: calls of the holder's page during it, and how long before its end the last of
   * them had ended.
   */
  holderCalls: number | null;
  holderIdleUs: number | null;
  events: EventRef[];
}
/** The rows of the tables. */
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
        level: level ? lockLevelText(level) : null,
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
  'chains of SQLITE_BUSY',
  { locks },
  (store, known) => new LockLines(store, known.locks),
);
