/**
 * When the worker does long work: whole-trace numbers, lanes, and long queries. Long work runs in
 * steps with pauses, in which frames of the timeline are drawn and queries are canceled. Work on a
 * growing trace runs without pauses, because the trace must not change meanwhile.
 */
import type { AnyFact, Facts, Progress } from '../../analysis/core/graph.ts';
import type { RunningQuery } from './query-queue.ts';
import { yieldToMessages } from '../yield.ts';

/** Traces with fewer events are answered at once. */
const STEPS_FROM_EVENTS = 100_000;
/** Short steps run without a pause for this long, because a pause takes as long as many of them. */
const PAUSE_AFTER_MS = 8;
/** A view that has its answer sends its next query within this time. */
const QUIET_MS = 50;

/** What the scheduler needs from the session. */
export interface ScheduledWork {
  /** Computed when nothing else waits. */
  readonly background: readonly AnyFact[];
  /** Of the current trace: another object when it has changed. */
  facts(): Facts;
  growing(): boolean;
  /** A picture of the current trace was requested and answered. */
  pictured(): boolean;
  /** ms until the whole-trace numbers are worth computing; null = not now. */
  dueIn(): number | null;
  /** Compute them. The steps' results are ready. */
  compute(facts: Facts): void;
  /** Other than PAUSE_AFTER_MS. */
  readonly pauseAfterMs?: number;
}

/** The first picture is done by then, or the timeline isn't visible. */
const SLOW_AFTER_MS = 250;

export class Scheduler {
  /** Settles when the running steps are done. */
  private steps: Promise<void> = Promise.resolve();
  private timer: ReturnType<typeof setTimeout> | null = null;
  /** When it fires, ms of performance.now(). */
  private timerAt = Infinity;
  private busy = false;
  /** Queries that wait for their turn. */
  private readonly waiting = new Set<RunningQuery>();
  /** The current step, as text; '' = none. */
  private now = '';
  /**
   * When messages were last handled, and when a query last arrived or was answered, ms of
   * performance.now().
   */
  private heardAt = -Infinity;
  private askedAt = -Infinity;

  constructor(private readonly of: ScheduledWork) {}

  /**
   * Computes what a query needs, one query after the other. What isn't done when the trace changes,
   * the query computes itself.
   * @param needs none = it doesn't wait @param query receives the progress @param other the trace
   * that this one is compared with: the same is computed for it
   * @throws AbortError at the next pause after it was canceled
   */
  async prepare(
    needs: readonly AnyFact[],
    query: RunningQuery,
    other: Facts | null = null,
  ): Promise<void> {
    if (this.atOnce(other?.store.eventCount)) return;
    await this.hear(); // it may have been canceled before its message was handled
    this.askedAt = this.heardAt;
    query.check();
    if (!needs.length) return;
    this.waiting.add(query);
    if (this.now) query.progress(this.now, 0, 0);
    await this.inTurn(async () => {
      this.waiting.delete(query);
      await this.walk(
        (facts) => (other ? ofBoth(facts, other, needs) : facts.compute(needs)),
        query,
      );
    });
    this.askedAt = performance.now();
  }

  /**
   * Whether a query arrived or was answered a moment ago. @returns when it will have been quiet for
   * long enough
   */
  private async wasJustAsked(): Promise<boolean> {
    const wait = this.askedAt + QUIET_MS - performance.now();
    if (wait <= 0) return false;
    await new Promise((resolve) => setTimeout(resolve, wait));
    return true;
  }
  private async hear(): Promise<void> {
    await yieldToMessages();
    this.heardAt = performance.now();
  }
  /** Whether a query arrived meanwhile. Pending answers are sent first. */
  private async wasAsked(): Promise<boolean> {
    await this.hear();
    return this.waiting.size > 0;
  }
  private atOnce(more = 0): boolean {
    return this.of.growing() || this.of.facts().store.eventCount + more < STEPS_FROM_EVENTS;
  }
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const run = this.steps.then(work);
    this.steps = run.then(
      () => undefined,
      () => undefined, // reported to the caller
    );
    return run;
  }

  /**
   * @param query null = no query waits for it, and waiting queries go first @returns whether it
   * gave way to a query
   */
  private async walk(
    work: (facts: Facts) => Iterable<Progress>,
    query: RunningQuery | null,
  ): Promise<boolean> {
    const { of, waiting } = this;
    const facts = of.facts();
    let told = -1;
    try {
      query?.check();
      for (const { label, done, of: all } of work(facts)) {
        if (performance.now() - this.heardAt >= (of.pauseAfterMs ?? PAUSE_AFTER_MS)) {
          await this.hear();
          if (of.growing() || of.facts() !== facts) return false;
          if (!query && waiting.size) return true;
        }
        query?.check();
        if (done === told) continue;
        told = done;
        this.now = label;
        query?.progress(label, done, all);
        for (const other of waiting) other.progress(label, 0, 0);
      }
      return false;
    } finally {
      this.now = '';
    }
  }

  /**
   * Compute the whole-trace numbers when they are due. For a trace that doesn't grow: as soon as
   * its picture is done.
   */
  plan(): void {
    const due = this.of.dueIn();
    if (due === null || this.busy) return;
    const wait = Math.max(this.of.pictured() && !this.of.growing() ? 0 : SLOW_AFTER_MS, due);
    const at = performance.now() + wait;
    if (at >= this.timerAt) return;
    // scheduled at a recording's pace, and it has ended
    if (this.timer !== null) clearTimeout(this.timer);
    this.timerAt = at;
    this.timer = setTimeout(() => void this.slow(), wait);
  }

  private async slow(): Promise<void> {
    this.timer = null;
    this.timerAt = Infinity;
    this.busy = true;
    const facts = this.of.facts();
    try {
      const background = (): Promise<boolean> =>
        this.inTurn(() => this.walk((now) => now.compute(this.of.background), null));
      while (
        !this.atOnce() &&
        ((await background()) || (await this.wasAsked()) || (await this.wasJustAsked()))
      );
    } finally {
      this.busy = false;
    }
    if (!this.of.growing() && this.of.facts() !== facts) this.plan();
    else this.of.compute(this.of.facts());
  }
}

/** The same facts of two traces. */
function* ofBoth(a: Facts, b: Facts, needs: readonly AnyFact[]): Generator<Progress> {
  const first = a.missing(needs).length;
  const of = first + b.missing(needs).length;
  for (const progress of a.compute(needs)) yield { ...progress, of };
  for (const { label, done } of b.compute(needs))
    yield { label: `${label}, in B`, done: first + done, of };
}
