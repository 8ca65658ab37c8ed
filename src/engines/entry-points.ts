/**
 * Wraps the ways by which a page gets a wasm module or instance or sets a table slot. Name, length, results and errors are the
 * native ones; streaming compilation and the code cache stay as they are.
 */
import { unwrapped } from './asyncify.ts';
import { NativeInstance, NativeTable, type WasmFunction } from '../vfs-instrumented/interpose/natives.ts';

export interface EntryPointHost {
  /** What the app compiles. @returns bytes to compile in their place, or null; never throws */
  bytes(source: unknown): Uint8Array<ArrayBuffer> | null;
  /** A new instance. @returns what the app gets in its place; never throws */
  instance(instance: WebAssembly.Instance, imports: unknown): WebAssembly.Instance;
  /** After the app has set a slot; never throws. */
  slotSet(table: WebAssembly.Table, slot: number, fn: unknown): void;
  /** The app's own function in a slot where a trampoline stands; null = nothing of ours there. */
  originalAt(table: WebAssembly.Table, slot: number): WasmFunction | null;
}

type Callable = (...args: unknown[]) => unknown;

/** @returns puts every property back as it was, unless somebody wrapped it again: then ours passes through from now on */
export function wrapEntryPoints(host: EntryPointHost): () => void {
  let active = true;
  const undo: (() => void)[] = [];
  const replace = (target: object, key: string, make: (native: Callable) => unknown): void => {
    const before = Object.getOwnPropertyDescriptor(target, key);
    if (!before || typeof before.value !== 'function') return;
    const value = make(before.value as Callable);
    Object.defineProperty(target, key, { ...before, value });
    undo.push(() => {
      if (Object.getOwnPropertyDescriptor(target, key)?.value === value) Object.defineProperty(target, key, before);
    });
  };
  /** A function whose calls run `call`; name, length and "[native code]" stay, as it stays no constructor. */
  const calling = (native: Callable, call: (self: unknown, args: unknown[]) => unknown): Callable =>
    new Proxy(native, { apply: (_target, self, args) => call(self, args) });

  /** Compile, or compile and instantiate: errors in compiling are told of the app's own bytes. */
  const compiling = (native: Callable, self: unknown, args: unknown[]): unknown => {
    const bytes = active ? host.bytes(args[0]) : null;
    if (!bytes) return Reflect.apply(native, self, args);
    const promise = Reflect.apply(native, self, [bytes, ...args.slice(1)]) as Promise<unknown>;
    return promise.catch((error: unknown) => {
      if (error instanceof WebAssembly.CompileError) return Reflect.apply(native, self, args);
      throw error;
    });
  };
  const adopt = (answer: unknown, imports: unknown): unknown => {
    if (!active) return answer;
    if (answer instanceof NativeInstance) return host.instance(answer, imports);
    const pair = answer as { instance: WebAssembly.Instance };
    pair.instance = host.instance(pair.instance, imports);
    return answer;
  };
  for (const key of ['instantiate', 'instantiateStreaming'])
    replace(WebAssembly, key, (native) =>
      calling(native, (self, args) => {
        const promise = compiling(native, self, args) as Promise<unknown>;
        return active ? promise.then((answer) => adopt(answer, args[1])) : promise;
      }),
    );
  replace(WebAssembly, 'compile', (native) => calling(native, (self, args) => compiling(native, self, args)));
  replace(WebAssembly, 'Module', (native) => {
    const proxy: object = new Proxy(native, {
      construct: (target, args, newTarget) => {
        const bytes = active ? host.bytes(args[0]) : null;
        const made = newTarget === proxy ? target : newTarget;
        try {
          if (bytes) return Reflect.construct(target, [bytes, ...(args as unknown[]).slice(1)], made) as object;
        } catch (error) {
          if (!(error instanceof WebAssembly.CompileError)) throw error;
        }
        return Reflect.construct(target, args, made) as object; // its errors are about the app's own bytes
      },
    });
    return proxy;
  });

  replace(WebAssembly, 'Instance', (native) => {
    const proxy: object = new Proxy(native, {
      construct: (target, args, newTarget) =>
        adopt(Reflect.construct(target, args, newTarget === proxy ? target : newTarget), args[1]) as WebAssembly.Instance,
    });
    return proxy;
  });

  replace(NativeTable.prototype, 'set', (native) =>
    calling(native, (table, args) => {
      // first the native one: it throws for plain JS functions, and Emscripten's addFunction relies on that
      if (args.length > 1) args[1] = unwrapped(args[1]); // dynamic linking puts exports into the table
      const answer: unknown = Reflect.apply(native, table, args);
      if (active) host.slotSet(table as WebAssembly.Table, Number(args[0]), args[1]);
      return answer;
    }),
  );
  replace(NativeTable.prototype, 'get', (native) =>
    calling(native, (table, args) => {
      const value: unknown = Reflect.apply(native, table, args);
      return (active && host.originalAt(table as WebAssembly.Table, Number(args[0]))) || value;
    }),
  );

  return () => {
    active = false;
    for (const put of undo) put();
  };
}
