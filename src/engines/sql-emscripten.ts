/**
 * SQL calls of builds with minified exports: their glue runs `Module["_sqlite3_step"] =
 * wasmExports["hb"]`, and an accessor on Object.prototype sees name, function and Module object.
 * While it exists, `'_sqlite3_step' in {}` is true. It isn't enumerable. It stays until `restore`
 * removes it, because a page may load another engine at any time.
 */
import type { WasmFunction } from '../vfs-instrumented/interpose/natives.ts';
import { bindCall, TRACED_BINDS, type TracedBind } from './sql-binds.ts';
import { tracedCall, type SqlCaller } from './sql-calls.ts';
import { TRACED, type Traced } from './sql-functions.ts';

/** The layer of a Module object; null = not ours (yet), so the call isn't recorded. */
type ResolveModule = (module: object, fn: WasmFunction) => SqlCaller | null;

/** A property of a Module: what the app has set, and what it gets. */
type Slot = [module: object, raw: unknown, wrapped: unknown];

/**
 * @param values also trap the functions that bind values
 * @returns restores everything, and returns the names of what the app has frozen
 * @throws if Object.prototype can't be extended
 */
export function trapEmscriptenModules(
  resolve: ResolveModule,
  seen: (module: object, fn: unknown) => void,
  values = false,
): () => string[] {
  let active = true;
  /** By Module and key, while the app holds the Module. */
  const slots = new WeakMap<object, Map<string, Slot>>();
  /** All of them. */
  const owners = new Set<WeakRef<Map<string, Slot>>>();
  /** Our functions: those that replace a Module's own, and the getters. */
  const wrappers = new WeakSet<object>();

  const wrap = (traced: Traced | TracedBind, module: object, value: unknown): unknown => {
    if (typeof value !== 'function' || wrappers.has(value)) return value;
    let layer: SqlCaller | null = null; // a Module stays with its engine
    const layerOf = (): SqlCaller | null =>
      active ? (layer ??= resolve(module, value as WasmFunction)) : null;
    const fn = value as WasmFunction;
    const wrapper =
      'kind' in traced ? bindCall(traced, fn, layerOf) : tracedCall(traced, fn, layerOf);
    wrappers.add(wrapper);
    return wrapper;
  };

  /**
   * They hold the Module weakly, because V8 may keep the accessors of one Module for later ones
   * with the same hidden class.
   */
  const accessors = (traced: Traced | TracedBind, ref: WeakRef<Slot>) => ({
    configurable: true,
    enumerable: true,
    get: () => ref.deref()?.[2],
    // older glue assigns again at the first call, so the object's own property must stay an
    // accessor
    set(next: unknown) {
      const slot = ref.deref();
      if (!slot || slot.includes(next)) return;
      slot[1] = next;
      slot[2] = wrap(traced, slot[0], next);
      seen(slot[0], next);
    },
  });

  const traps = new Map<string, PropertyDescriptor>();
  for (const traced of values ? [...TRACED, ...TRACED_BINDS] : TRACED) {
    const key = `_${traced.name}`;
    const descriptor: PropertyDescriptor = {
      configurable: true,
      set(this: object, value: unknown) {
        const slot: Slot = [this, value, wrap(traced, this, value)];
        const own = accessors(traced, new WeakRef(slot));
        if (!Reflect.defineProperty(this, key, own)) return;
        wrappers.add(own.get);
        let ofModule = slots.get(this);
        if (!ofModule) {
          slots.set(this, (ofModule = new Map()));
          owners.forEach((ref) => ref.deref() ?? owners.delete(ref));
          owners.add(new WeakRef(ofModule));
        }
        ofModule.set(key, slot);
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
    for (const ref of owners)
      for (const [key, [module, value]] of ref.deref() ?? []) {
        const get = Object.getOwnPropertyDescriptor(module, key)?.get as object;
        if (wrappers.has(get) && !Reflect.defineProperty(module, key, { value, writable: true }))
          left.push(`Module.${key}`);
      }
    return left;
  };
}
