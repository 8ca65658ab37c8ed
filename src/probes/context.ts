/** Records calls of the platform's methods: before each, after each, and what it throws. */
import { Flag } from '../event/event.ts';
import { failureOf } from '../event/exceptions.ts';
import type { Patches } from '../record/patches.ts';
import { NOTHING, type Recorder, type Token } from '../record/recorder.ts';
import { apply } from '../record/reflect.ts';

interface CallHooks<Self> {
  /** Before the native call. */
  begin(self: Self, args: unknown[]): Token;
  /** After the native call returned. Must end the token, now or later. */
  end(token: Token, result: unknown, self: Self, args: unknown[]): void;
}

/** What every probe needs: where to record, and how to install patches that can be undone. */
export class ProbeContext {
  private readonly names = new Map<string, Map<string, number>>();

  constructor(
    readonly recorder: Recorder,
    readonly patches: Patches,
    readonly scope: typeof globalThis,
  ) {}

  /** The prototype of a global interface; undefined if this thread has none. */
  proto(name: string): object | undefined {
    return (
      (this.scope as unknown as Record<string, { prototype?: object } | undefined>)[name] ?? {}
    ).prototype;
  }

  /**
   * Record calls of `owner[name]`. Errors of the hooks are counted. The call's result, `this`, and
   * exceptions pass unchanged.
   */
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
        // a call that the platform also rejects is the app's mistake, not a fault of the hook
        recorder.end(token, failureOf(e), Flag.threw);
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

  /**
   * Id of a text, defined once. Beyond `limit` distinct texts, all others share "(others)", so that
   * keys can't fill the memory.
   */
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

  /** Id of an object by its name within a group. `define` runs once per name. */
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
