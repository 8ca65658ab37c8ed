/**
 * When the worker does its long work: the numbers and lanes that take a look at the whole trace, and long queries, in steps with pauses
 * in which frames of the timeline are drawn and queries are cancelled. A trace that grows is worked on at once, for it must not change meanwhile.
 */
import type { Analyses } from '../../analysis/shared.ts';
import type { RunningQuery } from './query-queue.ts';
import { yieldToMessages } from './yield.ts';
import { STEPS_FROM_EVENTS, timelineSteps, type Step } from './steps.ts';

/** What the scheduler asks of the session. */
export interface ScheduledWork {
  /** Of the trace as it is now: another object when it has changed. */
  shared(): Analyses;
  growing(): boolean;
  /** A picture of the trace as it is now was asked for, and is answered. */
  pictured(): boolean;
  /** ms until the whole-trace numbers are worth computing; null = not now. */
  dueIn(): number | null;
  /** Compute them; what the steps made is there. */
  compute(shared: Analyses): void;
}

/** The first picture is out by then, or nobody looks at the timeline. */
const SLOW_AFTER_MS = 250;

export class Scheduler {
  /** Settled when the steps under way are done. */
  private steps: Promise<void> = Promise.resolve();
  private timer: ReturnType<typeof setTimeout> | null = null;
  /** When it rings, ms of performance.now(). */
  private timerAt = Infinity;
  private busy = false;
  /** Queries whose turn has not come. */
  private readonly waiting = new Set<RunningQuery>();
  /** What is computed at the moment, in words; '' = nothing. */
  private now = '';

  constructor(private readonly of: ScheduledWork) {}

  /**
   * Long work in steps, one query after the other. What is left undone when the trace changes meanwhile, whoever asked computes by himself.
   * @param steps null = it needs none, and waits for nobody @param query is told how far it is @param events of another trace that they may be of, too
   * @throws AbortError at the next pause after it was cancelled
   */
  async inSteps(
    steps: (shared: Analyses) => Step[] | null,
    query: RunningQuery,
    events = 0,
  ): Promise<void> {
    if (this.atOnce(events)) return;
    await yieldToMessages(); // it may have been cancelled while it waited to be heard
    query.check();
    if (!steps(this.of.shared())) return;
    this.waiting.add(query);
    if (this.now) query.progress(this.now, 0, 0);
    await this.inTurn(async () => {
      this.waiting.delete(query);
      await this.walk(steps, query);
    });
  }

  private atOnce(more = 0): boolean {
    return this.of.growing() || this.of.shared().store.eventCount + more < STEPS_FROM_EVENTS;
  }
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const run = this.steps.then(work);
    this.steps = run.then(
      () => undefined,
      () => undefined, // told to the one who asked
    );
    return run;
  }

  /** @param query null = nobody waits for it, and who does goes first @returns whether it gave way to a query */
  private async walk(
    steps: (shared: Analyses) => Step[] | null,
    query: RunningQuery | null,
  ): Promise<boolean> {
    const { of, waiting } = this;
    const shared = of.shared();
    const all = steps(shared) ?? [];
    /** @returns whether to go on */
    const pause = async (): Promise<boolean> => {
      await yieldToMessages();
      query?.check();
      return !of.growing() && of.shared() === shared;
    };
    query?.check();
    try {
      for (const [done, { what, run }] of all.entries()) {
        if (!query && waiting.size) return true;
        this.now = what;
        query?.progress(what, done, all.length);
        for (const other of waiting) other.progress(what, 0, 0);
        for (const _ of run() ?? []) if (!(await pause())) return false;
        if (!(await pause())) return false;
      }
      return false;
    } finally {
      this.now = '';
    }
  }

  /** Compute the whole-trace numbers when they are due: of a trace that grows no more, as soon as its picture is out. */
  plan(): void {
    const due = this.of.dueIn();
    if (due === null || this.busy) return;
    const wait = Math.max(this.of.pictured() && !this.of.growing() ? 0 : SLOW_AFTER_MS, due);
    const at = performance.now() + wait;
    if (at >= this.timerAt) return;
    if (this.timer !== null) clearTimeout(this.timer); // planned at a recording's pace, and it has ended
    this.timerAt = at;
    this.timer = setTimeout(() => void this.slow(), wait);
  }

  private async slow(): Promise<void> {
    this.timer = null;
    this.timerAt = Infinity;
    this.busy = true;
    const shared = this.of.shared();
    try {
      const background = (): Promise<boolean> => this.inTurn(() => this.walk(timelineSteps, null));
      while (!this.atOnce() && (await background()));
    } finally {
      this.busy = false;
    }
    if (!this.of.growing() && this.of.shared() !== shared) this.plan();
    else this.of.compute(this.of.shared());
  }
}
