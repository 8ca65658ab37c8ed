/**
 * Batches of an app that works wait until it rests: on few processors, taking each in as it comes would cost the app its processor. The
 * journal has them already. Small batches are of an app that rests, and don't wait.
 */
import { livePaceMs } from './change-notifier.ts';

/** Records of an app that works: 128 of them in one batch. */
const LARGE_BYTES = 8192;
/** No batch for this long: the app rests. Threads send every 50 ms. */
const REST_MS = 200;
/** So much waits at most, of an app that has just begun to work: threads hold back beyond 32 MiB. */
const MOST_BYTES = 16 << 20;
/** Of one that goes on: to wait longer only brings its threads nearer to that limit. */
const SUSTAINED_BYTES = 4 << 20;

export class BatchQueue {
  private waiting: (() => void)[] = [];
  private bytes = 0;
  /** When the first of them came, ms of performance.now(). */
  private since = 0;
  private timer: ReturnType<typeof setTimeout> | null = null;
  /** The app has not rested since as much was taken in as may wait. */
  private sustained = false;
  /** The longest wait, ms. */
  private readonly mostMs: number;

  constructor(processors = globalThis.navigator?.hardwareConcurrency ?? Infinity) {
    this.mostMs = processors <= 4 ? livePaceMs(processors, Infinity) : 0;
  }

  /** The app works, and what it sent waits for its rest. */
  get waits(): boolean {
    return this.waiting.length > 0;
  }

  /** @param bytes of the batch @param take takes it in: now or later, in the order of the calls */
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

  /** @param stillWorks the app: it was the longest wait that is over */
  private rest(stillWorks: boolean): void {
    this.flush();
    this.sustained = stillWorks;
  }

  /** Take in what waits. */
  flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    const { waiting } = this;
    this.waiting = [];
    this.bytes = 0;
    for (const take of waiting) take();
  }

  /** Nothing of it is wanted any more. */
  drop(): void {
    this.waiting = [];
    this.flush();
  }
}
