/**
 * Replaces methods of the platform so that the app can't tell (name, length, property flags,
 * "[native code]", not a constructor), and restores them. A Proxy preserves all of that. It costs
 * about 30 ns per call; reading the clock costs more.
 */
import { apply, construct, dataProperty } from './reflect.ts';
import { Undo } from './undo.ts';

export type Callable = (this: unknown, ...args: unknown[]) => unknown;
const { getOwnPropertyDescriptor, defineProperty } = Object;

/** The object in the prototype chain of `start` that owns `name`; undefined if none does. */
export function ownerOf(start: object | null | undefined, name: PropertyKey): object | undefined {
  for (let o = start; o; o = Object.getPrototypeOf(o) as object | null)
    if (Object.hasOwn(o, name)) return o;
  return undefined;
}

/** A set of replaced properties that are restored together. */
export class Patches {
  private readonly undo = new Undo();

  /**
   * Replace a data property's value, keeping its flags.
   * @returns false if there is no such property, or it can't be replaced
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
      // otherwise the app has wrapped ours: don't touch its wrapper
      if (dataProperty(owner, name) === ours) defineProperty(owner, name, before);
    });
    return true;
  }

  /** Replace a function. `handler` runs in its place and calls `native` itself. */
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

  /**
   * Replace a constructor. `handler` runs in its place and calls `make` itself, which constructs
   * the requested object, or its subclass.
   */
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

  /**
   * Run `after` when the app has set an accessor property, and `before` when it is about to. They
   * must not throw.
   */
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
      // as above
      if (getOwnPropertyDescriptor(owner, name)?.set === set) defineProperty(owner, name, native);
    });
  }

  /** Another step to undo at restore. */
  onRestore(undo: () => void): void {
    this.undo.add(this, 'listeners', undo);
  }

  /**
   * Restore everything, last first. @returns names of properties that stay because the app has
   * frozen them
   */
  restore(): string[] {
    return this.undo.run();
  }
}
