/**
 * What a query of the drawing side can use. A query is a function of the loaded trace and its
 * arguments. With `memo`, it caches what doesn't depend on the arguments until the trace changes.
 */
import { Facts, type AnyFact, type Fact } from '../../../analysis/core/graph.ts';
import type { CallLanes } from '../../../trace/lanes/frame.ts';
import type { TraceStore } from '../../../trace/store.ts';
import type { TimelineLanes } from '../../../timeline/timeline-lanes.ts';

export interface QueryContext {
  readonly store: TraceStore;
  /** For the current trace, with every lane up to the last event. */
  callLanes(): CallLanes;
  /** The same, and what is derived from the lanes: time, transactions, counters. */
  timeline(): TimelineLanes;
  /** For the current trace. */
  readonly facts: Facts;
  /**
   * The trace that this one is compared with, if any; and whether a previous recording is available
   * for comparison.
   */
  readonly compared: ComparedTraces;
  /** The cached result of `make` under this key, unless the trace has changed since. */
  memo<T>(key: string, make: () => T): T;
  /**
   * Pauses long work so that other requests are answered. @throws AbortError if the answer isn't
   * needed any more
   */
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

/**
 * Answers must survive structured clone. Typed arrays that own their buffer are transferred, so
 * never return a store's column or a memo's array.
 */
export type Query<Args, Answer> = (context: QueryContext, args: Args) => Answer | Promise<Answer>;

/** A query, and the facts computed before it is answered, with progress and pauses. */
export const needing = <Args, Answer>(
  needs: readonly AnyFact[],
  query: (context: QueryContext, args: Args) => Answer,
): typeof query & { needs: readonly AnyFact[] } => Object.assign(query, { needs });

/** The query whose answer is a fact. */
export const answerOf = <T>(fact: Fact<T>): ReturnType<typeof needing<object, T>> =>
  needing([fact], ({ facts }: QueryContext, _args: object) => facts.get(fact));

/** Caches results for one version of one trace. */
export class Memo {
  private version = -1;
  private readonly kept = new Map<string, unknown>();
  private known: { version: number; facts: Facts } | null = null;

  constructor(private readonly store: TraceStore) {}

  /**
   * The trace's facts. @param version of this trace only: changing the other trace of a comparison
   * doesn't affect it
   */
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
