/**
 * What a query of the drawing side gets to work on. A query is a function of the loaded trace and its arguments; what it
 * computes once for all arguments it keeps with `memo` until the trace changes.
 */
import { Facts, type AnyFact, type Fact } from '../../../analysis/core/graph.ts';
import type { CallLanes } from '../../../trace/lanes/frame.ts';
import type { TraceStore } from '../../../trace/store.ts';
import type { TimelineLanes } from '../../../timeline/timeline-lanes.ts';

export interface QueryContext {
  readonly store: TraceStore;
  /** Of the trace as it is now; every lane up to the last event. */
  callLanes(): CallLanes;
  /** The same, and the lanes derived from it: time, transactions, counters. */
  timeline(): TimelineLanes;
  /** Of the trace as it is now. */
  readonly facts: Facts;
  /** The trace that this one is compared with, if any; and whether the recording before this one is kept, which could be. */
  readonly compared: ComparedTraces;
  /** The result of an earlier `make` under this key, unless the trace has changed since. */
  memo<T>(key: string, make: () => T): T;
  /** A pause in long work, in which others are answered. @throws AbortError where the answer is not wanted any more */
  rest(): Promise<void>;
}

export interface ComparedTraces {
  readonly other: NamedTrace | null;
  readonly previous: NamedTrace | null;
}
export interface NamedTrace {
  readonly store: TraceStore;
  /** It does not grow. */
  readonly facts: Facts;
  readonly name: string;
}

/** Answers must survive structured clone; typed arrays that own their buffer are transferred, so never hand out a store's column or a memo's own array. */
export type Query<Args, Answer> = (context: QueryContext, args: Args) => Answer | Promise<Answer>;

/** A query, and the facts that are computed before it is answered, with progress and pauses. */
export const needing = <Args, Answer>(
  needs: readonly AnyFact[],
  query: (context: QueryContext, args: Args) => Answer,
): typeof query & { needs: readonly AnyFact[] } => Object.assign(query, { needs });

/** The query whose answer is a fact. */
export const answerOf = <T>(fact: Fact<T>): ReturnType<typeof needing<object, T>> =>
  needing([fact], ({ facts }: QueryContext, _args: object) => facts.get(fact));

/** Keeps what was computed for one version of one trace. */
export class Memo {
  private version = -1;
  private readonly kept = new Map<string, unknown>();
  private known: { version: number; facts: Facts } | null = null;

  constructor(private readonly store: TraceStore) {}

  /** The trace's facts. @param version of the trace alone: another trace to compare with changes nothing of it */
  facts(version: number): Facts {
    if (this.known?.version !== version) this.known = { version, facts: new Facts(this.store) };
    return this.known.facts;
  }

  get<T>(version: number, key: string, make: () => T): T {
    if (version !== this.version) this.kept.clear();
    this.version = version;
    if (!this.kept.has(key)) this.kept.set(key, make());
    return this.kept.get(key) as T;
  }
}
