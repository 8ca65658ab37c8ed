/**
 * `self.close()` ends a worker, but not at once: its task and the following microtasks run to their
 * end. Their calls are recorded, too. No event marks that end, so one of our own microtasks
 * continues after the app's until nothing has been recorded for a while.
 */
import type { Recorder } from '../record/recorder.ts';
import { queueMicrotask } from './natives.ts';

/** This many promise steps of the app may pass without a recorded event: some 0.1 ms. */
const QUIET_STEPS = 1000;

/** @param end called in the last task of this thread */
export function atLastTask(recorder: Recorder, end: () => void): void {
  let quiet = 0;
  let seen = recorder.begunRecords;
  const look = (): void => {
    quiet = recorder.begunRecords === seen ? quiet + 1 : 0;
    seen = recorder.begunRecords;
    if (quiet < QUIET_STEPS) queueMicrotask(look);
    else end();
  };
  queueMicrotask(look);
}
