/**
 * Replaces methods of the platform so that nobody can tell (name, length, property flags, "[native code]", not a constructor),
 * and puts them back. A Proxy keeps all of that by itself; it costs about 30 ns a call, a clock reading costs more.
 */
import { Flag } from '../event/event.ts';
import { failureOf } from '../event/exceptions.ts';
import { NOTHING, type Recorder, type Token } from '../record/recorder.ts';
import { Undo } from '../record/undo.ts';
import { apply } from '../record/reflect.ts';

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
      if (getOwnPropertyDescriptor(owner, name)?.value === ours)
        defineProperty(owner, name, before);
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

  /** Run `after` when the app has set an accessor property; it must not throw. */
  setter(
    owner: object | null | undefined,
    name: PropertyKey,
    after: (self: unknown) => void,
  ): void {
    const before = owner && getOwnPropertyDescriptor(owner, name);
    if (!owner || !before?.set || !before.configurable) return;
    const set = new Proxy(before.set, {
      apply(target, self, args) {
        apply(target, self, args);
        after(self);
      },
    });
    defineProperty(owner, name, { ...before, set });
    this.undo.add(owner, name, () => {
      if (getOwnPropertyDescriptor(owner, name)?.set === set) defineProperty(owner, name, before); // as above
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

interface CallHooks<Self> {
  /** Before the native call. */
  begin(self: Self, args: unknown[]): Token;
  /** After the native call returned. Must end the token, now or later. */
  end(token: Token, result: unknown, self: Self, args: unknown[]): void;
}

/** What every probe needs: where to record, and how to install so that it can be undone. */
export class ProbeContext {
  private readonly names = new Map<string, Map<string, number>>();

  constructor(
    readonly recorder: Recorder,
    readonly patches: Patches,
    readonly scope: typeof globalThis,
  ) {}

  /** The prototype of a global interface, undefined where this thread has none. */
  prototypeOf(name: string): object | undefined {
    return (
      (this.scope as unknown as Record<string, { prototype?: object } | undefined>)[name] ?? {}
    ).prototype;
  }

  /** Record calls of `owner[name]`. Errors of the hooks are counted; result, `this` and exceptions of the call pass unchanged. */
  record<Self = never>(
    owner: object | null | undefined,
    name: PropertyKey,
    hooks: CallHooks<Self>,
  ): boolean {
    const { recorder } = this;
    const where = `probe ${String(name)}`;
    return this.patches.method(owner, name, (native, self, args) => {
      if (!recorder.enabled) return apply(native, self, args);
      let token = NOTHING;
      let failure: { error: unknown } | null = null;
      try {
        token = hooks.begin(self as Self, args);
      } catch (error) {
        failure = { error };
      }
      let result: unknown;
      try {
        result = apply(native, self, args);
      } catch (e) {
        recorder.end(token, failureOf(e), Flag.threw); // what the platform refuses as well is the app's mistake, no fault of the hook
        throw e;
      }
      if (failure) recorder.fault(where, failure.error);
      try {
        hooks.end(token, result, self as Self, args);
      } catch (e) {
        recorder.fault(where, e);
      }
      return result;
    });
  }

  /** Id of a text, defined once. Beyond `limit` different ones all share one "(others)", so that keys cannot fill the memory. */
  textId(kind: 'lock' | 'storage-key' | 'name' | 'message', text: string, limit = 4096): number {
    const key = text.length > 2000 ? `${text.slice(0, 2000)}...` : text;
    return this.id(
      kind,
      key,
      () => this.recorder.define({ kind, text: key }),
      limit,
      () => this.recorder.define({ kind, text: '(others)' }),
    );
  }

  /** Id of an object by its name within a group: `define` runs once a name. */
  id(
    group: string,
    key: string,
    define: () => number,
    limit = Infinity,
    others: () => number = define,
  ): number {
    let ids = this.names.get(group);
    if (!ids) this.names.set(group, (ids = new Map()));
    let id = ids.get(key);
    if (id === undefined) {
      if (ids.size >= limit) {
        id = ids.get('\0others') ?? others();
        ids.set('\0others', id);
        return id;
      }
      ids.set(key, (id = define()));
    }
    return id;
  }
}
