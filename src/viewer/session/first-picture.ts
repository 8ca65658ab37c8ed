/**
 * The first picture of a file that was just read comes before long work, and so do the quick
 * requests that follow it (extent, threads, numbers). Long work is: queries that waited for the
 * file, and whole-trace numbers. If the timeline isn't on screen, there is no picture to wait for.
 */
import { yieldToMessages } from '../yield.ts';

/** A visible timeline requests it before this. */
const PICTURE_MS = 150;
/** The requests that follow it have ended by then, even without a message. */
const WAKE_MS = 300;

export class FirstPicture {
  /** A picture was requested while the file was being read, so the timeline is on screen. */
  private watched = false;
  private pictured = false;
  private asked = false;
  /** When waiting ends at the latest, ms of performance.now(); 0 = it has ended. */
  private until = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private resolve = (): void => {};
  /** Resolves when the picture and the following requests are answered, or weren't made. */
  out: Promise<void> = Promise.resolve();

  /** All events of a file have been read. */
  begin(): void {
    this.end();
    this.pictured = !this.watched;
    this.watched = this.asked = false;
    this.out = new Promise(
      (resolve) => (this.resolve = () => void yieldToMessages().then(resolve)),
    ); // messages are sent after the current task
    this.endIn(PICTURE_MS);
  }

  /** A picture of what has been read so far is requested. */
  watch(): void {
    this.watched = true;
  }
  /** A picture was answered. */
  answered(): void {
    if (!this.until || this.pictured) return;
    this.pictured = true;
    if (this.asked) this.end();
    else this.endIn(WAKE_MS);
  }

  /** The last of the following requests has arrived. */
  over(): void {
    this.asked = true;
    if (this.pictured) this.end();
  }

  /** How long long work should wait, ms. */
  get wake(): number {
    return this.until && Math.max(0, this.until - performance.now());
  }

  private endIn(ms: number): void {
    clearTimeout(this.timer);
    this.until = performance.now() + ms;
    this.timer = setTimeout(() => this.end(), ms);
  }
  private end(): void {
    clearTimeout(this.timer);
    this.until = 0;
    this.resolve();
    this.resolve = () => {};
  }
}
