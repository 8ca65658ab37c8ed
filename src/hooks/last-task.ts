/**
 * `self.close()` ends a worker, but not at once: its task runs on to its end, and the microtasks behind it. What they do is recorded, too.
 * Nothing is told when that end is, so one of our own microtasks goes on behind the app's, until nothing was recorded for a while.
 */
import type { Recorder } from '../record/recorder.ts';
import { queueMicrotask } from './natives.ts';

/** As many steps of the app's promises may do nothing that is recorded: some 0.1 ms. */
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
