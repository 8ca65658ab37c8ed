/**
 * SQL calls of builds with minified exports: their glue runs `Module["_sqlite3_step"] = wasmExports["hb"]`, and an accessor on
 * Object.prototype sees name, function and Module object. While it stands, `'_sqlite3_step' in {}` is true: it is not enumerable,
 * and `restore` removes it. It stays until then, because a page may load another engine at any time.
 */
import type { WasmFunction } from '../vfs-instrumented/interpose/natives.ts';
import { bindCall, TRACED_BINDS, type TracedBind } from './sql-binds.ts';
import { tracedCall } from './sql-calls.ts';
import { TRACED, type Traced } from './sql-functions.ts';
import type { SqlLayer } from './sql-layer.ts';

/** The layer that a Module object belongs to; null = not ours (yet): the call goes straight through. */
type ResolveModule = (module: object, fn: WasmFunction) => SqlLayer | null;

/**
 * @param values the functions that bind values, too
 * @returns puts everything back; answers with the names of what the app has frozen
 * @throws where Object.prototype cannot be extended
 */
export function trapEmscriptenModules(
  resolve: ResolveModule,
  seen: (module: object, fn: unknown) => void,
  values = false,
): () => string[] {
  let active = true;
  /** Modules that have accessors of ours: held weakly, since the app may drop them. */
  const owners = new Set<WeakRef<object>>();
  const known = new WeakSet<object>();
  /** By getter of ours: what the app has set. */
  const raws = new WeakMap<object, () => unknown>();
  const wrappers = new WeakSet<object>();

  const wrap = (traced: Traced | TracedBind, module: object, value: unknown): unknown => {
    if (typeof value !== 'function' || wrappers.has(value)) return value;
    let layer: SqlLayer | null = null; // a Module stays with its engine
    const layerOf = (): SqlLayer | null =>
      active ? (layer ??= resolve(module, value as WasmFunction)) : null;
    const fn = value as WasmFunction;
    const wrapper =
      'kind' in traced ? bindCall(traced, fn, layerOf) : tracedCall(traced, fn, layerOf);
    wrappers.add(wrapper);
    return wrapper;
  };

  const traps = new Map<string, PropertyDescriptor>();
  for (const traced of values ? [...TRACED, ...TRACED_BINDS] : TRACED) {
    const key = `_${traced.name}`;
    const descriptor: PropertyDescriptor = {
      configurable: true,
      enumerable: false,
      get: () => undefined,
      set(this: object, value: unknown) {
        let raw = value;
        let wrapped = wrap(traced, this, value);
        const getter = (): unknown => wrapped;
        // older glue assigns again at the first call, so the object's own property stays an accessor
        const setter = (next: unknown): void => {
          if (next === raw || next === wrapped) return;
          raw = next;
          wrapped = wrap(traced, this, next);
          seen(this, next);
        };
        if (
          !Reflect.defineProperty(this, key, {
            configurable: true,
            enumerable: true,
            get: getter,
            set: setter,
          })
        )
          return;
        raws.set(getter, () => raw);
        if (!known.has(this)) {
          known.add(this);
          owners.forEach((ref) => ref.deref() ?? owners.delete(ref));
          owners.add(new WeakRef(this));
        }
        seen(this, value);
      },
    };
    Object.defineProperty(Object.prototype, key, descriptor);
    traps.set(key, descriptor);
  }

  return () => {
    active = false;
    const left: string[] = [];
    for (const [key, ours] of traps)
      if (
        Object.getOwnPropertyDescriptor(Object.prototype, key)?.set === ours.set &&
        !Reflect.deleteProperty(Object.prototype, key)
      )
        left.push(`Object.${key}`);
    for (const ref of owners) {
      const target = ref.deref();
      if (!target) continue;
      for (const key of traps.keys()) {
        const get = Object.getOwnPropertyDescriptor(target, key)?.get;
        const raw = get && raws.get(get);
        const descriptor = { configurable: true, enumerable: true, writable: true };
        if (raw && !Reflect.defineProperty(target, key, { ...descriptor, value: raw() }))
          left.push(`Module.${key}`);
      }
    }
    return left;
  };
}
