/** Lays a method over one of the browser's own, which can be made to step aside while others lie over it. */
import { replace } from '../../meter/seeded-realm.ts';

export type Method = (this: object, ...args: unknown[]) => unknown;
/** Does nothing where this browser has no such method. @param instead gets the browser's own method */
export type Patch = (
  prototype: object | undefined,
  method: string,
  instead: (native: Method) => Method,
) => void;

/** @param active whether the patches are to be called @returns `puts`: put the methods back, first to last */
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
