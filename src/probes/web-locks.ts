/**
 * Web Locks: lockRequest = the wait (call to grant, or to refusal), lockHeld = ownership (grant to
 * release). Both are measured with the wrapped callback, and with the promise of request(), which
 * settles when the lock is released, stolen, or refused.
 */
import { Flag, Op, WebLock } from '../event/event.ts';
import { failureOf } from '../event/exceptions.ts';
import { NOTHING } from '../record/recorder.ts';
import type { PromiseWatch } from '../record/promise-watch.ts';
import type { ProbeContext } from './context.ts';
import { apply, textOf } from '../record/reflect.ts';

/** Record Web Locks calls of this thread until the context's patches are restored. */
export function installWebLocks(context: ProbeContext, watch: PromiseWatch): void {
  const { recorder, patches } = context;
  const prototype = context.proto('LockManager');

  // request(name, callback) or request(name, options, callback)
  patches.method(prototype, 'request', (native, self, args) => {
    const callback = args.length > 2 ? args[2] : args[1];
    if (!recorder.enabled || typeof callback !== 'function') return apply(native, self, args);
    let waiting = NOTHING;
    let held = NOTHING;
    try {
      let aux = 0;
      // the platform converts the name first; if that runs the app's code, don't look at the
      // options
      if (
        args.length > 2 &&
        typeof args[0] === 'string' &&
        typeof args[1] === 'object' &&
        args[1] !== null
      ) {
        // read once and in the platform's order; the platform then reads our copy
        try {
          const { ifAvailable, mode, signal, steal } = args[1] as LockOptions;
          args[1] = { __proto__: args[1], ifAvailable, mode, signal, steal };
          aux =
            (mode === 'shared' ? WebLock.shared : 0) |
            (ifAvailable ? WebLock.ifAvailable : 0) |
            (steal ? WebLock.steal : 0);
        } catch (e) {
          args[1] = {
            get ifAvailable(): never {
              throw e;
            },
          };
        }
      }
      const name = context.textId('lock', textOf(args[0]));
      waiting = recorder.begin(Op.lockRequest, name, NaN, 0, aux);
      const granted = function (this: unknown, ...answer: unknown[]): unknown {
        recorder.end(waiting, answer[0] ? 0 : 1, Flag.async);
        waiting = NOTHING;
        if (answer[0] && recorder.enabled) held = recorder.begin(Op.lockHeld, name, NaN, 0, aux);
        return apply(callback as (...a: unknown[]) => unknown, this, answer);
      };
      args[args.length > 2 ? 2 : 1] = granted;
    } catch (e) {
      recorder.fault('LockManager.request', e);
    }
    const promise = apply(native, self, args);
    try {
      watch.watch(promise, (ok, reason) => {
        const flags = ok ? Flag.async : Flag.async | Flag.threw;
        const result = ok ? 0 : failureOf(reason);
        recorder.end(waiting, result, flags); // never granted: refused, or aborted by its signal
        recorder.end(held, result, flags);
        waiting = held = NOTHING;
      });
    } catch (e) {
      recorder.fault('LockManager.request', e);
    }
    return promise;
  });
  context.record(prototype, 'query', {
    begin: () => recorder.begin(Op.lockQuery, 0, NaN, 0),
    end: (token, promise) =>
      watch.watch(promise, (ok, reason) =>
        recorder.end(token, ok ? 0 : failureOf(reason), ok ? Flag.async : Flag.async | Flag.threw),
      ),
  });
}
