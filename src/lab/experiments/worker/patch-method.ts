/**
 * Overrides a browser method with a function that can be disabled while other patches lie over it.
 */
import { replace } from '../../meter/seeded-realm.ts';

export type Method = (this: object, ...args: unknown[]) => unknown;
/**
 * Does nothing where this browser lacks the method.
 * @param instead receives the browser's method
 */
export type Patch = (
  prototype: object | undefined,
  method: string,
  instead: (native: Method) => Method,
) => void;

/**
 * @param active whether the patches are called
 * @returns `puts`: restore functions for the methods, to call first to last
 */
export function patcher(active: () => boolean): { patch: Patch; puts: (() => void)[] } {
  const puts: (() => void)[] = [];
  const patch: Patch = (prototype, method, instead) => {
    const methods = prototype as Record<string, Method> | undefined;
    const native = methods?.[method];
    if (!methods || !native) return;
    const patched = instead(native);
    const chosen = function (this: object, ...args: unknown[]): unknown {
      return (active() ? patched : native).apply(this, args);
    };
    puts.push(replace(methods, method, chosen));
  };
  return { patch, puts };
}
