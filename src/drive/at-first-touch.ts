/**
 * Runs in a worker that the browser pauses before its first line. Much of the platform isn't there
 * yet (timers, OPFS, shared memory; reading `location` ends the renderer), so the hook can't begin.
 * It begins when the app's script first touches the platform. Until then, the platform's functions
 * and objects (`self`, `indexedDB`, `fetch`, `addEventListener`, ...) are accessors. A script that
 * touches none of them does nothing that could be recorded. Reading an interface would set it up
 * too early, so only a few interfaces are accessors.
 *
 * It has no closure: its text goes into the worker.
 */
export function atFirstTouch(begin: () => void): void {
  const { getOwnPropertyDescriptor, getPrototypeOf, defineProperty } = Object;
  const { apply, ownKeys, set: assign } = Reflect;
  /** Timers become available with everything else. */
  const isWhole = (): boolean => typeof setInterval === 'function';
  if (isWhole()) return begin();
  const doors: (() => void)[] = [];
  let closed = true;
  const touched = (): void => {
    if (!closed || !isWhole()) return;
    closed = false;
    for (let i = 0; i < doors.length; i++) doors[i]!();
    begin();
  };

  const watch = (owner: object, key: PropertyKey): void => {
    const before = getOwnPropertyDescriptor(owner, key);
    if (!before?.configurable) return;
    const { get: read, set: write, enumerable } = before;
    const get = function (this: unknown): unknown {
      touched();
      if (read) return apply(read, this, []);
      return closed ? before.value : (owner as Record<PropertyKey, unknown>)[key];
    };
    const set = function (this: unknown, value: unknown): void {
      touched();
      if (write) apply(write, this, [value]);
      else if ('value' in before) assign(owner, key, value, this ?? owner);
    };
    const door = { get, set: before.writable || write ? set : undefined };
    defineProperty(owner, key, { ...door, enumerable, configurable: true });
    doors[doors.length] = () => {
      // the app may have declared a function with that name
      if (getOwnPropertyDescriptor(owner, key)?.get === get) defineProperty(owner, key, before);
    };
  };
  const INTERFACES = /^(?:[a-z]|(?:Worker|BroadcastChannel|MessageChannel|WebAssembly|Atomics)$)/;
  for (
    let owner: object = globalThis;
    owner !== Object.prototype;
    owner = getPrototypeOf(owner) as object
  )
    for (const key of ownKeys(owner))
      if (typeof key === 'string' && key !== 'constructor' && INTERFACES.test(key))
        watch(owner, key);
}
