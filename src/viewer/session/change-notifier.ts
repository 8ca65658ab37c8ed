/**
 * When the drawing side is notified of a change: at once, but not so often that the worker can't do
 * its own work and, during a recording, not so often that the traced app lacks processor time.
 */

/** For a trace that doesn't grow. */
const NOTIFY_EVERY_MS = 100;
/**
 * Each notification draws a picture. There are fewer if the traced app has to share its processor
 * with them.
 */
const LIVE_MS = { free: 25, shared: 40 };
/**
 * While the app is busy. Of two processors it needs one, and its page and the browser need the
 * other.
 */
const WORKING_MS = { two: 1000, four: 250 };
/** From this many events per second on. */
const WORKING_RATE = 2000;
/** Maximum share of the worker's time for notifying. */
const NOTIFY_SHARE = 0.25;

/**
 * ms between pictures of a growing trace. @param processors of the machine @param rate events per
 * second
 */
export function livePaceMs(processors: number, rate: number): number {
  if (rate >= WORKING_RATE && processors <= 4)
    return processors <= 2 ? WORKING_MS.two : WORKING_MS.four;
  return processors > 2 ? LIVE_MS.free : LIVE_MS.shared;
}

/** What the notifier needs of the session. */
interface ChangeSource {
  recording(): boolean;
  /** Events so far. */
  events(): number;
  /** The app is busy and its last events wait, so there is little to report. */
  waits(): boolean;
  /** Push the changes. */
  tell(): void;
}

export class ChangeNotifier {
  private timer: ReturnType<typeof setTimeout> | null = null;
  /** When the timer fires, ms of performance.now(). */
  private due = Infinity;
  /**
   * When it last notified, and how long that took, ms; the events at that time, and their rate
   * before.
   */
  private told = { at: -Infinity, took: 0, events: 0, rate: 0 };

  constructor(
    private readonly of: ChangeSource,
    private readonly processors = globalThis.navigator?.hardwareConcurrency ?? 1,
  ) {}

  /** Something has changed. */
  soon(): void {
    const { at, took } = this.told;
    this.in(Math.max(0, at + Math.max(this.pace, took / NOTIFY_SHARE) - performance.now()));
  }
  private get pace(): number {
    if (!this.of.recording()) return NOTIFY_EVERY_MS;
    return livePaceMs(this.processors, this.of.waits() ? Infinity : this.told.rate);
  }

  /**
   * Postpones what was scheduled before the app became busy, unless the waiting batches are taken
   * in.
   */
  private ring(): void {
    this.timer = null;
    this.due = Infinity;
    const left = this.told.at + this.pace - performance.now();
    if (left >= 1 && this.of.recording() && this.of.waits()) this.in(left);
    else this.now();
  }

  now(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.due = Infinity;
    const began = performance.now();
    const events = this.of.events();
    const rate = Math.max(0, events - this.told.events) / ((began - this.told.at) / 1000);
    this.of.tell();
    const at = performance.now();
    this.told = { at, took: at - began, events, rate };
    // rates fall without new data
    if (this.of.recording()) this.in(Math.max(5 * NOTIFY_EVERY_MS, this.pace));
  }

  private in(ms: number): void {
    const due = performance.now() + ms;
    if (due >= this.due) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.due = due;
    this.timer = setTimeout(() => this.ring(), ms);
  }
}
