/**
 * When the drawing side hears of a change: at once, but no more often than leaves the worker time for its work, and while a trace is
 * recorded no more often than leaves the traced app its processors.
 */

/** Of a trace at rest. */
const NOTIFY_EVERY_MS = 100;
/** Each is a picture. Where the traced app would have to share its processor with them there are fewer. */
const LIVE_MS = { free: 25, shared: 40 };
/** The same while the app works: on two processors it needs one, its page and the browser the other. */
const WORKING_MS = { two: 1000, four: 250 };
/** From so many events a second on. */
const WORKING_RATE = 2000;
/** Notifying takes at most this share of the worker's time. */
const NOTIFY_SHARE = 0.25;

/** ms between pictures of a trace that grows. @param processors of the machine @param rate events per second */
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
  /** The app works, and its last events wait: there is little to tell. */
  waits(): boolean;
  /** Push what has changed. */
  tell(): void;
}

export class ChangeNotifier {
  private timer: ReturnType<typeof setTimeout> | null = null;
  /** When the timer rings, ms of performance.now(). */
  private due = Infinity;
  /** When it last told, and how long that took, ms; events by then, and their rate before. */
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

  /** What was planned before the app began to work comes later, unless what waits is taken in. */
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
    if (this.of.recording()) this.in(Math.max(5 * NOTIFY_EVERY_MS, this.pace)); // rates fall without new data
  }

  private in(ms: number): void {
    const due = performance.now() + ms;
    if (due >= this.due) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.due = due;
    this.timer = setTimeout(() => this.ring(), ms);
  }
}
