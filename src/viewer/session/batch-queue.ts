/**
 * Batches of a busy app wait until it is idle, because on few processors taking in each at once
 * would cost the app its processor. The journal already has them. Small batches come from an idle
 * app and don't wait.
 */
import { livePaceMs } from './change-notifier.ts';

/** Minimum bytes of a busy app's batch: 128 records. */
const LARGE_BYTES = 8192;
/** Without a batch for this long, the app is idle. Threads send every 50 ms. */
const REST_MS = 200;
/**
 * Maximum bytes that wait while an app has just become busy. Threads hold back beyond the limits in
 * hooks/transport.ts.
 */
const MOST_BYTES = 16 << 20;
/**
 * Maximum for an app that stays busy. Waiting longer would only bring its threads closer to that
 * limit.
 */
const SUSTAINED_BYTES = 4 << 20;

export class BatchQueue {
  private waiting: (() => void)[] = [];
  private bytes = 0;
  /** When the first of them arrived, ms of performance.now(). */
  private since = 0;
  private timer: ReturnType<typeof setTimeout> | null = null;
  /** The app hasn't been idle since the maximum was last taken in. */
  private sustained = false;
  /** The longest wait, ms. */
  private readonly mostMs: number;

  constructor(processors = globalThis.navigator?.hardwareConcurrency ?? Infinity) {
    this.mostMs = processors <= 4 ? livePaceMs(processors, Infinity) : 0;
  }

  /** The app is busy, and its batches wait until it is idle. */
  get waits(): boolean {
    return this.waiting.length > 0;
  }

  /** @param bytes of the batch @param take takes the batch in: at once or later, in call order */
  add(bytes: number, take: () => void): void {
    if (this.mostMs === 0 || (this.waiting.length === 0 && bytes < LARGE_BYTES)) {
      this.sustained = false;
      return take();
    }
    const now = performance.now();
    if (this.waiting.length === 0) this.since = now;
    this.waiting.push(take);
    this.bytes += bytes;
    if (this.timer !== null) clearTimeout(this.timer);
    const left = this.since + this.mostMs - now;
    const isFull = this.bytes >= (this.sustained ? SUSTAINED_BYTES : MOST_BYTES);
    if (isFull || left <= 0) {
      this.flush();
      this.sustained = true;
    } else this.timer = setTimeout(() => this.rest(left <= REST_MS), Math.min(REST_MS, left));
  }

  /** @param stillWorks the app is still busy: the maximum wait is over */
  private rest(stillWorks: boolean): void {
    this.flush();
    this.sustained = stillWorks;
  }

  /** Take in the waiting batches. */
  flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    const { waiting } = this;
    this.waiting = [];
    this.bytes = 0;
    for (const take of waiting) take();
  }

  /** Drop the waiting batches. */
  drop(): void {
    this.waiting = [];
    this.flush();
  }
}
