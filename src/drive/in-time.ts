/** What waits for an answer in a browser, but not longer than a page may wait for it. */
import { setTimeout as delay } from 'node:timers/promises';

/** @returns undefined where it fails, or takes too long */
export const inTime = <T>(ms: number, promise: Promise<T>): Promise<T | undefined> =>
  Promise.race([promise.catch(() => undefined), delay(ms, undefined, { ref: false })]);
