/**
 * Reacts to the app's promises without slowing it down. While DevTools are open, as during a
 * recording, V8 captures a stack for every `then` that a script calls: 10 to 20 us, more than
 * everything else that is recorded of a call. It doesn't for a `then` called by a builtin
 * (Isolate::OnPromiseThen: "indirectly, e.g. Promise.all"), so Array.prototype.reduce makes the
 * call here: then(ok, failed, 1, both).
 */
import { apply } from './reflect.ts';
const nativeThen = Promise.prototype.then;
const { reduce } = Array.prototype;
const { bind } = Function.prototype;

/**
 * The platform's own `promise.then(ok, failed)`, even if the app has replaced `then`.
 * @returns the derived promise, which rejects if a handler throws
 */
export function react(
  promise: Promise<unknown>,
  ok: (value: unknown) => void,
  failed: (reason: unknown) => void,
): Promise<unknown> {
  return apply(reduce, [ok, failed], [apply(bind, nativeThen, [promise])]) as Promise<unknown>;
}
