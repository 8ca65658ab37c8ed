/**
 * A worker may be terminated as soon as its last message has arrived. So a worker that sends its
 * own records sends the waiting ones before each outgoing message:
 *
 *   worker    calls ... postMessage(reply)          calls ... port.postMessage(reply)
 *             records ^                                records ^
 *
 * All others are sent every 50 ms, or when the ring is half full.
 *
 * That costs 45 us a message with DevTools open. Where it would take more than 2 % of the thread's
 * time, it happens only once a millisecond.
 */
import { Op } from '../event/event.ts';
import type { Patches } from '../record/patches.ts';
import { NOTHING, type Recorder } from '../record/recorder.ts';
import { apply } from '../record/reflect.ts';
import { listen, setTimeout, unlisten } from './natives.ts';

/** Maximum share of the thread's time. */
const SHARE = 0.02;
/** Maximum time to spend at once, ms. */
const SAVED_UP_MS = 20;
const LEAST_MS = 1;

/**
 * From now on, until `patches` are restored.
 * @param drain sends the waiting records and doesn't throw
 */
export function drainBeforeMessages(patches: Patches, recorder: Recorder, drain: () => void): void {
  let last = recorder.now();
  let saved = last;
  let left = SAVED_UP_MS;
  let isDue = false;

  const beforeMessage = (): void => {
    if (recorder.backlogRecords === 0) return;
    const begin = recorder.now();
    left = Math.min(SAVED_UP_MS, left + SHARE * (begin - saved));
    saved = begin;
    if (left <= 0 && begin - last < LEAST_MS) {
      if (!isDue) setTimeout(() => ((isDue = false), drain()), 0);
      isDue = true;
      return;
    }
    // inside SQL, this time counts as ours
    const token = recorder.current
      ? recorder.begin(Op.tracer, 0, NaN, recorder.backlogRecords)
      : NOTHING;
    drain();
    recorder.end(token, 0);
    last = begin;
    // one that takes longer waited for a core, or sends many records, which takes that time anyway
    const spent = Math.min(LEAST_MS, recorder.now() - begin);
    left = Math.max(-LEAST_MS, left - spent); // a debt is paid off within 50 ms
  };

  const { MessagePort, BroadcastChannel, Worker, Client } = globalThis as Partial<
    typeof globalThis
  > & { Client?: { prototype: object } };
  for (const owner of [globalThis, MessagePort, BroadcastChannel, Worker, Client].map((type) =>
    type === globalThis ? type : (type as { prototype?: object } | undefined)?.prototype,
  ))
    patches.method(owner, 'postMessage', (native, self, args) => {
      beforeMessage();
      return apply(native, self, args);
    });
  // an error also leaves the worker, and the page may terminate it then
  listen(globalThis, 'error', beforeMessage, true);
  patches.onRestore(() => unlisten(globalThis, 'error', beforeMessage, true));
}
