/** The end of a recorded call that returns a promise. */
import { Flag } from '../event/event.ts';
import { failureOf } from '../event/exceptions.ts';
import type { PromiseWatch } from '../record/promise-watch.ts';
import type { Recorder, Token } from '../record/recorder.ts';

/**
 * Ends a record when a promise settles. @param then called with the value, before the app's own
 * reactions
 */
export type EndWith = (token: Token, promise: unknown, then?: (value: unknown) => void) => void;

/** @param where name of `then` in fault reports */
export const endingWith =
  (recorder: Recorder, watch: PromiseWatch, where: string): EndWith =>
  (token, promise, then) =>
    watch.watch(promise, (ok, value) => {
      recorder.end(token, ok ? 0 : failureOf(value), ok ? Flag.async : Flag.async | Flag.threw);
      if (ok && then)
        try {
          then(value);
        } catch (e) {
          recorder.fault(where, e);
        }
    });
