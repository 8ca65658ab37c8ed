/**
 * Facts of a trace, and what each is computed from:
 *
 *   export const checkpoints = fact('checkpoints', 'checkpoints', { wals, headers }, function* (store, { wals, headers }) {
 *     ...
 *     yield; // a pause, at most every 0.1 s: the timeline can draw, and a canceled query ends here
 *     ...
 *     return found;
 *   });
 *   facts.get(checkpoints)
 *
 * `Facts` holds the values for one trace at one moment. It computes a fact once, after those that
 * it needs. When the trace has grown, make a new one. Needs are constants of other modules, so the
 * graph can't have cycles.
 */
import type { ThreadStore, TraceStore } from '../../trace/store.ts';

export interface Fact<T> {
  /** Unique. Benchmarks and the fuzzer list it. */
  readonly name: string;
  /** What is computed, as users read it while waiting: "which statement each call serves". */
  readonly label: string;
  readonly needs: readonly AnyFact[];
  /** @returns the value, or a generator that pauses and then returns it */
  readonly make: (facts: Facts) => T | Generator<void, T>;
  /** Computes what `make` postponed. Only facts by thread have it. */
  readonly complete: ((value: T, store: TraceStore) => Generator<void>) | null;
}
export type AnyFact = Fact<any>; // eslint-disable-line @typescript-eslint/no-explicit-any -- a list of facts of any value

type Needs = Readonly<Record<string, AnyFact>>;
/** The values of needs, by the same names. */
export type Known<N extends Needs> = {
  readonly [K in keyof N]: N[K] extends Fact<infer T> ? T : never;
};

/** A value for each thread, computed when first requested. */
export interface ByThread<T> {
  of(thread: ThreadStore): T;
}

const declared = new Map<string, AnyFact>();
/**
 * Every fact that a loaded module declares, in the order of declaration: each after those that it
 * needs.
 */
export const allFacts = (): readonly AnyFact[] => [...declared.values()];

function declare<T>(fact: Fact<T>): Fact<T> {
  if (declared.has(fact.name)) throw new Error(`the fact "${fact.name}" is declared twice`);
  declared.set(fact.name, fact);
  return fact;
}

/**
 * Declares a fact of a trace.
 * @param make a pure function, or a generator if it may take more than 0.1 s. It gets `facts` to
 * pass on to others
 */
export const fact = /* @__NO_SIDE_EFFECTS__ */ <T, N extends Needs>(
  name: string,
  label: string,
  needs: N,
  make: (store: TraceStore, known: Known<N>, facts: Facts) => T | Generator<void, T>,
): Fact<T> =>
  declare({
    name,
    label,
    needs: Object.values(needs),
    make: (facts) => make(facts.store, facts.known(needs), facts),
    complete: null,
  });

/** Declares a fact of each thread. If only one thread's is requested, only that one is computed. */
export const threadFact = /* @__NO_SIDE_EFFECTS__ */ <T, N extends Needs>(
  name: string,
  label: string,
  needs: N,
  make: (thread: ThreadStore, known: Known<N>) => T,
): Fact<ByThread<T>> =>
  declare<ByThread<T>>({
    name,
    label,
    needs: Object.values(needs),
    make(facts) {
      const values = new Map<ThreadStore, T>();
      return {
        of(thread) {
          if (!values.has(thread)) values.set(thread, make(thread, facts.known(needs)));
          return values.get(thread)!;
        },
      };
    },
    *complete(value, { threads }) {
      for (const thread of threads) {
        value.of(thread);
        yield;
      }
    },
  });

/** What is computed next. */
export interface Progress {
  readonly label: string;
  /** Facts that are done, of all `of`. */
  readonly done: number;
  readonly of: number;
}

/** The facts of one trace. */
export class Facts {
  private readonly values = new Map<AnyFact, unknown>();
  private readonly complete = new Set<AnyFact>();

  constructor(readonly store: TraceStore) {}

  /** The value, computed without a pause if nothing has computed it yet. */
  get<T>(fact: Fact<T>): T {
    if (!this.values.has(fact)) {
      const made = fact.make(this);
      if (!isPaused(made)) this.values.set(fact, made);
      else {
        let next = made.next();
        while (!next.done) next = made.next();
        this.values.set(fact, next.value);
      }
    }
    return this.values.get(fact) as T;
  }

  /** The values of several facts, by the names of the record. */
  known<N extends Needs>(needs: N): Known<N> {
    return Object.fromEntries(
      Object.entries(needs).map(([name, fact]) => [name, this.get(fact)]),
    ) as Known<N>;
  }

  /** What `compute` still has to do. */
  missing(wanted: readonly AnyFact[]): readonly AnyFact[] {
    return inOrder(wanted).filter((fact) => !this.complete.has(fact));
  }

  /** The same, each computed when requested. */
  onDemand<N extends Needs>(needs: N): Known<N> {
    const known = {};
    for (const [name, fact] of Object.entries(needs))
      Object.defineProperty(known, name, { get: () => this.get(fact) });
    return known as Known<N>;
  }

  /**
   * Computes facts and all that they need, with pauses. End the generator early to cancel; what was
   * computed until then is kept.
   */
  *compute(wanted: readonly AnyFact[]): Generator<Progress, void> {
    const missing = this.missing(wanted);
    for (const [done, fact] of missing.entries()) {
      const progress = { label: fact.label, done, of: missing.length };
      yield progress;
      for (const _ of this.pieces(fact)) yield progress;
    }
  }

  private *pieces(fact: AnyFact): Generator<void> {
    if (!this.values.has(fact)) {
      const made = fact.make(this) as unknown;
      const value: unknown = isPaused(made) ? yield* made : made;
      // a query without pauses may have computed it during a pause, and others hold that value
      if (!this.values.has(fact)) this.values.set(fact, value);
    }
    yield* fact.complete?.(this.values.get(fact), this.store) ?? [];
    this.complete.add(fact);
  }
}

const isPaused = <T>(made: T | Generator<void, T>): made is Generator<void, T> =>
  typeof made === 'object' && made !== null && Symbol.iterator in made && 'throw' in made;

/** Facts and what they need, each after its needs. */
function inOrder(wanted: readonly AnyFact[]): AnyFact[] {
  const found = new Set<AnyFact>();
  const visit = (fact: AnyFact): void => {
    if (found.has(fact)) return;
    fact.needs.forEach(visit);
    found.add(fact);
  };
  wanted.forEach(visit);
  return [...found];
}
