/**
 * Wraps the ways in which a page gets a wasm module or instance, or sets a table slot. Name,
 * length, results, and errors are the native ones; streaming compilation and the code cache still
 * work.
 */
import { Op } from '../event/event.ts';
import { Patches } from '../record/patches.ts';
import { react } from '../record/reaction.ts';
import { unwrapped } from './asyncify.ts';
import {
  NativeInstance,
  NativeTable,
  type WasmFunction,
} from '../vfs-instrumented/interpose/natives.ts';
import type { Load } from './wasm-loads.ts';
import { apply, numberOf } from '../record/reflect.ts';

interface EntryPointHost {
  /**
   * A module is about to be compiled or instantiated.
   * @returns data for `loaded` and `instance`; never throws
   */
  loading(op: number, source: unknown): Load | null;
  /** The module is loaded; null = it failed. Never throws. */
  loaded(load: Load | null, made: unknown): void;
  /** Call `settled` when the app's promise settles. */
  watch(promise: unknown, settled: (ok: boolean, value: unknown) => void): void;
  /** A new instance. @returns what the app gets instead; never throws */
  instance(
    instance: WebAssembly.Instance,
    imports: unknown,
    load: Load | null,
  ): WebAssembly.Instance;
  /** After the app has set a slot; never throws. */
  slotSet(table: WebAssembly.Table, slot: number, fn: unknown): void;
  /** The app's own function in a slot that has a trampoline; null = the slot isn't ours. */
  originalAt(table: WebAssembly.Table, slot: number): WasmFunction | null;
}

/**
 * @returns restores every property, unless the app has wrapped it again, in which case ours only
 * passes calls through; returns the names of the properties that the app has frozen
 */
export function wrapEntryPoints(host: EntryPointHost): () => string[] {
  let active = true;
  const patches = new Patches();
  const adopt = (answer: unknown, imports: unknown, load: Load | null): unknown => {
    if (!active) return answer;
    if (answer instanceof NativeInstance) return host.instance(answer, imports, load);
    const pair = answer as { instance: WebAssembly.Instance };
    pair.instance = host.instance(pair.instance, imports, load);
    return answer;
  };
  const loading = (op: number, source: unknown): Load | null =>
    active ? host.loading(op, source) : null;
  /** Run code whose exceptions end the load. */
  const making = (load: Load | null, make: () => object): object => {
    let made: object | null = null;
    try {
      return (made = make());
    } finally {
      host.loaded(load, made);
    }
  };
  for (const key of ['instantiate', 'instantiateStreaming'])
    patches.method(WebAssembly, key, (native, self, args) => {
      const load = loading(Op.wasmInstantiate, args[0]);
      const promise = apply(native, self, args) as Promise<unknown>;
      if (!active) return promise;
      return react(
        promise,
        (answer) => {
          host.loaded(load, answer);
          return adopt(answer, args[1], load);
        },
        (error) => {
          host.loaded(load, null);
          throw error;
        },
      );
    });
  for (const key of ['compile', 'compileStreaming'])
    patches.method(WebAssembly, key, (native, self, args) => {
      const load = loading(Op.wasmCompile, args[0]);
      const promise: unknown = apply(native, self, args);
      if (load) host.watch(promise, (ok, module) => host.loaded(load, ok ? module : null));
      return promise;
    });
  patches.construction(WebAssembly, 'Module', (make, args) =>
    making(loading(Op.wasmCompile, args[0]), () => make(args)),
  );
  patches.construction(WebAssembly, 'Instance', (make, args) => {
    const load = loading(Op.wasmInstantiate, args[0]);
    return adopt(
      making(load, () => make(args)),
      args[1],
      load,
    );
  });

  patches.method(NativeTable.prototype, 'set', (native, table, args) => {
    // call the native one first: it throws for plain JS functions, and Emscripten's addFunction
    // relies on that
    if (args.length > 1) args[1] = unwrapped(args[1]); // dynamic linking puts exports into the table
    const answer: unknown = apply(native, table, args);
    if (active) host.slotSet(table as WebAssembly.Table, numberOf(args[0]), args[1]);
    return answer;
  });
  patches.method(NativeTable.prototype, 'get', (native, table, args) => {
    const value: unknown = apply(native, table, args);
    return (active && host.originalAt(table as WebAssembly.Table, numberOf(args[0]))) || value;
  });

  return () => {
    active = false;
    return patches.restore();
  };
}
