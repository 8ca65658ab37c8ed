/**
 * What happens around the calls: the app's performance marks and measures, uncaught errors,
 * visibility, navigation, and for pages what their user waited for (page-timings.ts).
 *
 * mark: object = its name, offset = startTime in ms. measure: the same, length = duration in us.
 * error: object = message, as far as the capture level allows, aux 1 = unhandled rejection.
 * visibility: aux 1 = hidden. navigation: object = URL, aux 0 = within the page, 1 = left, 2 = back
 * from the back/forward cache, 3 = into it.
 */
import { ProbeContext } from '../probes/context.ts';
import { Patches } from '../record/patches.ts';
import { Op } from '../event/event.ts';
import { messageAt, wordsOf } from '../record/error-message.ts';
import { scripts } from './capture.ts';
import type { RecordMessages } from './messages.ts';
import type { Thread } from './thread.ts';
import type { Workers } from './workers.ts';
import {
  listen,
  NativeURL,
  portsOf,
  queueMicrotask,
  randomId,
  unlisten,
  type Listener,
} from './natives.ts';
import { apply } from '../record/reflect.ts';
import { observePageTimings } from './page-timings.ts';

/**
 * Record host events of this thread, with messages if requested.
 * @returns a function that restores everything and returns the names of properties that the app has
 * frozen
 */
export function installHostEvents(thread: Thread, workers: Workers): () => string[] {
  const { recorder } = thread;
  const patches = new Patches();
  const context = new ProbeContext(recorder, patches, globalThis);
  const on = (target: EventTarget, type: string, run: Listener): void => {
    const listener: Listener = (event) => {
      try {
        if (recorder.enabled) run(event);
      } catch (e) {
        recorder.fault(type, e);
      }
    };
    listen(target, type, listener, true);
    patches.onRestore(() => unlisten(target, type, listener, true));
  };
  const entry = (
    name: 'mark' | 'measure',
    record: (entry: PerformanceEntry, id: number) => void,
  ): void =>
    void patches.method(context.proto('Performance'), name, (native, self, args) => {
      const made = apply(native, self, args) as PerformanceEntry | undefined;
      try {
        if (recorder.enabled && made) record(made, context.textId('name', made.name));
      } catch (e) {
        recorder.fault(name, e);
      }
      return made;
    });
  entry('mark', ({ startTime }, id) => recorder.instant(Op.mark, id, startTime, 0));
  entry('measure', ({ startTime, duration }, id) =>
    recorder.instant(Op.measure, id, startTime, Math.round(duration * 1000)),
  );

  const global = globalThis as unknown as EventTarget;
  on(global, 'error', (event) => {
    if (event instanceof ErrorEvent)
      recorder.instant(
        Op.error,
        context.textId('message', messageAt(recorder.level, event.message), 500),
        NaN,
        0,
      );
  });
  on(global, 'unhandledrejection', (event) => {
    const reason: unknown = (event as PromiseRejectionEvent).reason;
    const text = messageAt(recorder.level, wordsOf(reason));
    recorder.instant(Op.error, context.textId('message', text, 500), NaN, 0, 1);
  });
  (scripts.messages as RecordMessages | undefined)?.(
    patches,
    thread,
    workers,
    listen,
    unlisten,
    randomId,
    queueMicrotask,
    portsOf,
    NativeURL,
  );
  if (typeof document === 'undefined') return () => patches.restore();
  const endTimings = observePageTimings(recorder, context);
  if (endTimings) patches.onRestore(endTimings);

  const navigated = (aux: number): void =>
    recorder.instant(Op.navigation, context.textId('name', location.href), NaN, 0, aux);
  on(document, 'visibilitychange', () =>
    recorder.instant(Op.visibility, 0, NaN, 0, document.hidden ? 1 : 0),
  );
  on(global, 'pagehide', (event) => navigated((event as PageTransitionEvent).persisted ? 3 : 1));
  on(global, 'pageshow', (event) => (event as PageTransitionEvent).persisted && navigated(2));
  const navigation = (globalThis as { navigation?: EventTarget }).navigation;
  if (navigation) on(navigation, 'currententrychange', () => navigated(0));
  else for (const type of ['popstate', 'hashchange']) on(global, type, () => navigated(0));
  return () => patches.restore();
}
