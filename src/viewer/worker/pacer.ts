/**
 * When the worker does its long work: the numbers and lanes that take a look at the whole trace, and long questions, in steps with pauses
 * in which frames of the timeline are drawn. A trace that grows is worked on at once, for it must not change meanwhile.
 */
import type { Analyses } from '../../trace/analysis/shared.ts';
import { rest } from './rest.ts';
import { STEPS_FROM_EVENTS, timelineSteps } from './steps.ts';

/** What the pacer asks of the session. */
export interface Paced {
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

export class Pacer {
  /** Settled when the steps under way are done. */
  private steps: Promise<void> = Promise.resolve();
  private timer: ReturnType<typeof setTimeout> | null = null;
  /** When it rings, ms of performance.now(). */
  private timerAt = Infinity;
  private busy = false;

  constructor(private readonly of: Paced) {}

  /** Long work in steps, one after the other. What is left undone when the trace changes meanwhile, whoever asked computes by himself. */
  inSteps(steps: (shared: Analyses) => Generator<void> | null): Promise<void> {
    const { of } = this;
    if (of.growing() || of.shared().store.eventCount < STEPS_FROM_EVENTS) return Promise.resolve();
    const run = this.steps.then(async () => {
      const shared = of.shared();
      for (const _ of steps(shared) ?? []) {
        await rest();
        if (of.growing() || of.shared() !== shared) return;
      }
    });
    this.steps = run.catch(() => undefined); // told to the one who asked
    return run;
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
      await this.inSteps(timelineSteps);
    } finally {
      this.busy = false;
    }
    if (!this.of.growing() && this.of.shared() !== shared) this.plan();
    else this.of.compute(this.of.shared());
  }
}
