/**
 * The first picture of a file that has just been read, and what is asked in its wake and answered at once (extent, threads, numbers), go
 * before long work: before the queries that waited for the file and the numbers of the whole trace. Where the timeline is not on screen there is
 * no picture to wait for.
 */
import { yieldToMessages } from '../yield.ts';

/** A visible timeline asks for it before this. */
const PICTURE_MS = 150;
/** Its wake is over by then, even without a message. */
const WAKE_MS = 300;

export class FirstPicture {
  /** A picture was asked for while the file was read: the timeline is on screen. */
  private watched = false;
  private pictured = false;
  private asked = false;
  /** When it is over at the latest, ms of performance.now(); 0 = it is. */
  private until = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private resolve = (): void => {};
  /** Resolves when picture and wake are answered and on their way, or were not asked for. */
  out: Promise<void> = Promise.resolve();

  /** A file's events are all there. */
  begin(): void {
    this.end();
    this.pictured = !this.watched;
    this.watched = this.asked = false;
    this.out = new Promise(
      (resolve) => (this.resolve = () => void yieldToMessages().then(resolve)),
    ); // messages are sent after what is going on now
    this.endIn(PICTURE_MS);
  }

  /** A picture of what has been read so far is asked for. */
  watch(): void {
    this.watched = true;
  }
  /** A picture is answered. */
  answered(): void {
    if (!this.until || this.pictured) return;
    this.pictured = true;
    if (this.asked) this.end();
    else this.endIn(WAKE_MS);
  }

  /** The last of the wake is asked. */
  over(): void {
    this.asked = true;
    if (this.pictured) this.end();
  }

  /** ms for which long work had better wait. */
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
