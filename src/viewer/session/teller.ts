/** When the drawing side is told that something has changed: at once, but so often at most that the worker has time for its work. */

/** Of a trace at rest, and of one that is watched while it grows. */
const TELL_EVERY_MS = 100;
/** Each is a picture. Where the traced app would have to share its processor with them there are fewer. */
const TELL_LIVE_MS = (globalThis.navigator?.hardwareConcurrency ?? 1) > 2 ? 25 : 40;
/** Telling takes at most this share of the worker's time. */
const TELL_SHARE = 0.25;

/** What the teller asks of the session. */
export interface Told {
  recording(): boolean;
  /** Say what has changed. */
  tell(): void;
}

export class Teller {
  private timer: ReturnType<typeof setTimeout> | null = null;
  /** When the timer rings, ms of performance.now(). */
  private due = Infinity;
  /** When it was told last, and how long that took, ms. */
  private told = { at: -Infinity, took: 0 };

  constructor(private readonly of: Told) {}

  /** Something has changed. */
  soon(): void {
    const every = Math.max(
      this.of.recording() ? TELL_LIVE_MS : TELL_EVERY_MS,
      this.told.took / TELL_SHARE,
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
    if (this.of.recording()) this.in(5 * TELL_EVERY_MS); // rates fall without new data
  }

  private in(ms: number): void {
    const due = performance.now() + ms;
    if (due >= this.due) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.due = due;
    this.timer = setTimeout(() => this.now(), ms);
  }
}
