/**
 * The first picture of a file that has just been read goes before the questions that waited for the file: it takes some milliseconds, a
 * question about millions of events takes long.
 */
import { rest } from './rest.ts';

/** Nobody who looks at the timeline asks later than this. */
const AT_MOST_MS = 150;
/** With the picture comes what is asked in its wake and answered at once: extent, threads, numbers. */
const WAKE_MS = 60;

export class FirstPicture {
  private settle: (() => void) | null = null;
  private wakeUntil = 0;

  /** Resolves when a picture is answered and on its way, or nobody has asked for one. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, AT_MOST_MS);
      this.settle = () => {
        clearTimeout(timer);
        void rest().then(resolve); // its message is sent after what is going on now
      };
    });
  }

  /** A picture is answered. */
  answered(): void {
    if (!this.settle) return;
    this.settle();
    this.settle = null;
    this.wakeUntil = performance.now() + WAKE_MS;
  }

  /** ms for which long work had better wait. */
  get wake(): number {
    return Math.max(0, this.wakeUntil - performance.now());
  }
}
