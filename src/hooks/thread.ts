/** This thread in the trace: its recorder, its identity, its clock, and the tracer's cost here. */
import type { ThreadIdentity } from '../protocol/messages.ts';
import { CAPTURE_DEFAULTS, type CaptureOptions } from '../event/capture.ts';
import { measureClockStepUs } from '../event/clock.ts';
import { Op, RECORD_BYTES } from '../event/event.ts';
import type { ThreadKind } from '../event/definitions.ts';
import { Recorder } from '../record/recorder.ts';
import { MOST_RECORDS } from '../record/ring-layout.ts';
import { capture } from './capture.ts';
import { now, randomId } from './natives.ts';
import {
  environment as here,
  NATIVES_DRIVEN,
  says,
  type PageEnvironment,
  type WorkerEnvironment,
} from './source.ts';

/**
 * Where a realm stores the id of its hook, as a sign that one runs here already. Not enumerable;
 * removed at restore.
 */
const SIGN = Symbol.for('vfscope.thread');

export interface Thread {
  readonly identity: ThreadIdentity;
  readonly recorder: Recorder;
}

/** The tracer's cost on this thread, nanoseconds. */
export interface JsCost {
  nsPerJsEvent: number;
  nsPerClockPair: number;
}

/** The id of the hook that runs in a realm; undefined without one. May throw on foreign realms. */
export const hookIn = (realm: object): string | undefined =>
  (realm as Record<symbol, string | undefined>)[SIGN];

/** The value of the sign while a hook doesn't know yet whether its tab is recorded. */
const WAITING = '?';
/** Set only the sign: nothing is recorded before createThread. */
export const leaveSign = (): void =>
  void Object.defineProperty(globalThis, SIGN, { value: WAITING, configurable: true });

/**
 * Remove the sign. It stays where the script carries the hook: a late module would start the hook
 * again.
 */
export const forgetHook = (): void => {
  if (NATIVES_DRIVEN && says) Reflect.deleteProperty(globalThis, SIGN);
  else if (here.role !== 'filtered') Reflect.deleteProperty(globalThis, SIGN);
};

/**
 * Make this thread's recorder. Workers of a cross-origin isolated page get a shared ring of
 * MOST_RECORDS that the page reads, so they are recorded while they block. The page may be busy for
 * a second. All others get 16384 records and send them themselves. The user can set other sizes.
 * @param kind of a worker whose ring no page reads
 */
export function createThread(
  environment: PageEnvironment | WorkerEnvironment,
  kind?: ThreadKind,
): Thread {
  const isolated = globalThis.crossOriginIsolated === true;
  const shared =
    isolated &&
    typeof SharedArrayBuffer === 'function' &&
    environment.role === 'worker' &&
    kind === undefined;
  const recorder = new Recorder({
    capacity: capacityOf(capture, shared),
    shared,
    level: capture.capture,
  });
  const identity = identify(environment, kind);
  Object.defineProperty(globalThis, SIGN, { value: identity.id, configurable: true });
  const setUp = recorder.begin(Op.tracer, 0, NaN, 0);
  recorder.emit({
    kind: 'environment',
    id: 0,
    url: identity.url,
    threadKind: identity.kind,
    crossOriginIsolated: isolated,
    clockStepUs: measureClockStepUs(now),
    userAgent: navigator.userAgent,
    hidden: typeof document === 'undefined' ? null : document.hidden,
    capture,
  });
  recorder.end(setUp, 0);
  recorder.instant(Op.threadStart, 0, NaN, 0);
  return { identity, recorder };
}

/** Records in a ring. */
function capacityOf({ buffer }: CaptureOptions, shared: boolean): number {
  return shared && buffer === CAPTURE_DEFAULTS.buffer
    ? MOST_RECORDS
    : (buffer * 1024) / RECORD_BYTES;
}

function identify(
  environment: PageEnvironment | WorkerEnvironment,
  kind: ThreadKind = 'worker',
): ThreadIdentity {
  if (environment.role === 'worker') {
    const { id, base, name, parent } = environment;
    return { id, kind, url: base, name, parent };
  }
  const framed = window !== window.top;
  return {
    id: randomId(),
    kind: framed ? 'frame' : 'page',
    url: location.href,
    name: '',
    parent: parentThread(),
  };
}

/** The hook that records the page around this frame, or null. */
export function parentThread(): string | null {
  if (window === window.top) return null;
  try {
    const sign = hookIn(window.parent);
    return sign === undefined || sign === WAITING ? null : sign;
  } catch {
    return null; // a frame of another origin: its embedder isn't known here
  }
}

/**
 * Nanoseconds of one recorded JavaScript event and of one pair of clock readings, from about two
 * milliseconds on a scratch ring. Not at the start of a thread: code that runs for the first time
 * is tens of times slower than in the app's calls.
 */
export function measureJsCost(): JsCost {
  const scratch = new Recorder({ capacity: 64, maxEngines: 0 });
  const words = new Uint32Array(scratch.memory.buffer);
  const events = (): void => {
    words.fill(0, 0, 5); // counters to zero: the ring is empty again
    for (let i = 0; i < 32; i++) scratch.end(scratch.begin(Op.mark, 0, NaN, 0), 0);
  };
  const readings = (): void => {
    for (let i = 0; i < 64; i++) now();
  };
  for (let i = 0; i < 60; i++) events(); // compiled by now
  return { nsPerJsEvent: nsEach(events), nsPerClockPair: nsEach(readings) };
}

/**
 * Nanoseconds per event in a `batch` of 32: the best of three times 0.3 ms, since the thread may be
 * interrupted.
 */
function nsEach(batch: () => void): number {
  let best = Infinity;
  for (let round = 0; round < 3; round++) {
    const start = now();
    let batches = 0;
    let elapsed: number;
    do {
      batch();
      batches++;
      elapsed = now() - start;
    } while (elapsed < 0.3);
    best = Math.min(best, (elapsed * 1e6) / (batches * 32));
  }
  return Math.round(best);
}
