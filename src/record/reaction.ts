/**
 * Reacting to the app's promises without slowing it down. DevTools are open while a recording runs, and then V8 keeps a stack for
 * every `then` that a script calls: 10 to 20 us, more than all else that is recorded of a call. Not for one that a builtin calls
 * (Isolate::OnPromiseThen: "indirectly, e.g. Promise.all"), so Array.prototype.reduce makes the call here: then(ok, failed, 1, both).
 */
import { apply } from './reflect.ts';
const nativeThen = Promise.prototype.then;
const { reduce } = Array.prototype;
const { bind } = Function.prototype;

/**
 * The platform's own `promise.then(ok, failed)`, whatever the app has made of `then`.
 * @returns the derived promise: it rejects where a handler throws
 */
export function react(
  promise: Promise<unknown>,
  ok: (value: unknown) => void,
  failed: (reason: unknown) => void,
): Promise<unknown> {
  return apply(reduce, [ok, failed], [apply(bind, nativeThen, [promise])]) as Promise<unknown>;
}
