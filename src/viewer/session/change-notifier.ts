/** When the drawing side hears of a change: at once, but no more often than leaves the worker time for its work. */

/** Of a trace at rest, and of one that is watched while it grows. */
const NOTIFY_EVERY_MS = 100;
/** Each is a picture. Where the traced app would have to share its processor with them there are fewer. */
const NOTIFY_LIVE_MS = (globalThis.navigator?.hardwareConcurrency ?? 1) > 2 ? 25 : 40;
/** Notifying takes at most this share of the worker's time. */
const NOTIFY_SHARE = 0.25;

/** What the notifier needs of the session. */
interface ChangeSource {
  recording(): boolean;
  /** Push what has changed. */
  tell(): void;
}

export class ChangeNotifier {
  private timer: ReturnType<typeof setTimeout> | null = null;
  /** When the timer rings, ms of performance.now(). */
  private due = Infinity;
  /** When it last told, and how long that took, ms. */
  private told = { at: -Infinity, took: 0 };

  constructor(private readonly of: ChangeSource) {}

  /** Something has changed. */
  soon(): void {
    const every = Math.max(
      this.of.recording() ? NOTIFY_LIVE_MS : NOTIFY_EVERY_MS,
      this.told.took / NOTIFY_SHARE,
    );
    this.in(Math.max(0, this.told.at + every - performance.now()));
  }

  now(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.due = Infinity;
    const began = performance.now();
    this.of.tell();
    const at = performance.now();
    this.told = { at, took: at - began };
    if (this.of.recording()) this.in(5 * NOTIFY_EVERY_MS); // rates fall without new data
  }

  private in(ms: number): void {
    const due = performance.now() + ms;
    if (due >= this.due) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.due = due;
    this.timer = setTimeout(() => this.now(), ms);
  }
}
