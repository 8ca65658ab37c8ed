/**
 * Replaces methods of the platform so that the app can't tell (name, length, property flags, "[native code]", not a constructor),
 * and puts them back. A Proxy keeps all of that by itself; it costs about 30 ns a call, a clock reading costs more.
 */
import { apply, construct, dataProperty } from './reflect.ts';
import { Undo } from './undo.ts';

export type Callable = (this: unknown, ...args: unknown[]) => unknown;
const { getOwnPropertyDescriptor, defineProperty } = Object;

/** The object of `start`'s prototype chain that owns `name`; undefined when none does. */
export function ownerOf(start: object | null | undefined, name: PropertyKey): object | undefined {
  for (let o = start; o; o = Object.getPrototypeOf(o) as object | null)
    if (Object.hasOwn(o, name)) return o;
  return undefined;
}

/** A set of replaced properties that can be put back together. */
export class Patches {
  private readonly undo = new Undo();

  /**
   * Replace a data property's value, keeping its flags.
   * @returns false when there is no such property, or it cannot be replaced
   */
  value(
    owner: object | null | undefined,
    name: PropertyKey,
    make: (native: unknown) => unknown,
  ): boolean {
    const before = owner && getOwnPropertyDescriptor(owner, name);
    if (!owner || !before || !('value' in before) || !(before.configurable || before.writable))
      return false;
    const ours = make(before.value);
    defineProperty(owner, name, { ...before, value: ours });
    this.undo.add(owner, name, () => {
      // else the app has wrapped ours: leave theirs alone
      if (dataProperty(owner, name) === ours) defineProperty(owner, name, before);
    });
    return true;
  }

  /** Replace a function; `handler` runs in its place and calls `native` itself. */
  method(
    owner: object | null | undefined,
    name: PropertyKey,
    handler: (native: Callable, self: unknown, args: unknown[]) => unknown,
  ): boolean {
    return this.value(owner, name, (native) =>
      typeof native === 'function'
        ? new Proxy(native, {
            apply: (target, self, args) => handler(target as Callable, self, args),
          })
        : native,
    );
  }

  /** Replace a constructor; `handler` runs in its place and calls `make` itself, which constructs what was asked for, a subclass too. */
  construction(
    owner: object | null | undefined,
    name: PropertyKey,
    handler: (make: (args: unknown[]) => object, args: unknown[]) => unknown,
  ): boolean {
    return this.value(owner, name, (native) => {
      if (typeof native !== 'function') return native;
      const ours: object = new Proxy(native, {
        construct: (target, args, newTarget) =>
          handler(
            (given) => construct(target, given, newTarget === ours ? target : newTarget) as object,
            args,
          ) as object,
      });
      return ours;
    });
  }

  /** Run `after` when the app has set an accessor property, and `before` when it is about to; they must not throw. */
  setter(
    owner: object | null | undefined,
    name: PropertyKey,
    after: (self: unknown) => void,
    before?: (self: unknown) => void,
  ): void {
    const native = owner && getOwnPropertyDescriptor(owner, name);
    if (!owner || !native?.set || !native.configurable) return;
    const set = new Proxy(native.set, {
      apply(target, self, args) {
        before?.(self);
        apply(target, self, args);
        after(self);
      },
    });
    defineProperty(owner, name, { ...native, set });
    this.undo.add(owner, name, () => {
      if (getOwnPropertyDescriptor(owner, name)?.set === set) defineProperty(owner, name, native); // as above
    });
  }

  /** Something else to take back at restore. */
  onRestore(undo: () => void): void {
    this.undo.add(this, 'listeners', undo);
  }

  /** Put everything back, last first. @returns names of what the app has frozen meanwhile and that therefore stays */
  restore(): string[] {
    return this.undo.run();
  }
}
