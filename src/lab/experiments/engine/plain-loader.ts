/**
 * Loads a SQLite build whose imports have full names, such as sqlite.org's, without its package's
 * JavaScript. There is no file system: every file call fails, and SQLite's `:memory:` needs none.
 */
import { External, SectionId, WasmReader, sectionsOf } from '../../meter/reader.ts';
import type { EngineFactory, EngineModule, SqliteApi } from './builds.ts';
import { lacking, rawApi } from './raw-api.ts';
import type { RawEngine } from './raw-engine.ts';

/** WASI's error numbers, which Emscripten uses. */
const Errno = { badFile: 8, noSystem: 52 } as const;
const PAGE = 65536;
/** Limit of 32 bits of address, in pages. */
const MOST_PAGES = 32768;

type Import = (...args: (number | bigint)[]) => unknown;

/** Provided imports, for an instance with the memory that `memory` returns. */
function importsFor(memory: () => WebAssembly.Memory): Readonly<Record<string, Import>> {
  const view = (): DataView => new DataView(memory().buffer);
  const last = (args: readonly (number | bigint)[]): number => Number(args.at(-1)) >>> 0;
  const put32 = (at: number | bigint, value: number): void =>
    view().setInt32(Number(at) >>> 0, value, true);
  const stop = (what: string): Import => {
    return () => {
      throw new Error(`SQLite called ${what}`);
    };
  };
  const random: Import = (at, bytes) => {
    crypto.getRandomValues(new Uint8Array(memory().buffer, Number(at) >>> 0, Number(bytes)));
    return 0;
  };
  /** A struct tm in UTC, because a count must not depend on the machine's time zone. */
  const calendar: Import = (...args) => {
    const date = new Date(Number(args[0]) * 1000);
    const at = last(args);
    const year = date.getUTCFullYear();
    const day = Math.floor((date.getTime() - Date.UTC(year, 0, 1)) / 86_400_000);
    [
      date.getUTCSeconds(),
      date.getUTCMinutes(),
      date.getUTCHours(),
      date.getUTCDate(),
      date.getUTCMonth(),
      year - 1900,
      date.getUTCDay(),
      day,
      0,
      0,
    ].forEach((value, i) => put32(at + 4 * i, value));
    return 0;
  };
  const copy: Import = (to, from, bytes) => {
    const heap = new Uint8Array(memory().buffer);
    heap.copyWithin(Number(to) >>> 0, Number(from) >>> 0, (Number(from) >>> 0) + Number(bytes));
  };
  return {
    emscripten_date_now: () => Date.now(),
    emscripten_get_now: () => performance.now(),
    _emscripten_get_now_is_monotonic: () => 1,
    emscripten_get_heap_max: () => MOST_PAGES * PAGE,
    emscripten_notify_memory_growth: () => undefined,
    emscripten_memcpy_js: copy,
    _emscripten_memcpy_js: copy,
    emscripten_memcpy_big: copy,
    emscripten_resize_heap(bytes) {
      const more = Math.ceil(((Number(bytes) >>> 0) - memory().buffer.byteLength) / PAGE);
      try {
        memory().grow(Math.max(0, more));
        return 1;
      } catch (e) {
        if (e instanceof RangeError) return 0; // SQLite reports that it is out of memory
        throw e;
      }
    },
    clock_time_get(clock, ...rest) {
      const ms = Number(clock) === 0 ? Date.now() : performance.now();
      view().setBigInt64(last(rest), BigInt(Math.round(ms * 1e6)), true);
      return 0;
    },
    random_get: random,
    getentropy: random,
    environ_get: () => 0,
    environ_sizes_get(count, bytes) {
      put32(count!, 0);
      put32(bytes!, 0);
      return 0;
    },
    _localtime_js: calendar,
    _gmtime_js: calendar,
    _tzset_js(zone, daylight) {
      put32(zone!, 0);
      put32(daylight!, 0);
    },
    _mmap_js: () => -Errno.noSystem,
    _munmap_js: () => -Errno.noSystem,
    abort: stop('abort()'),
    _abort_js: stop('abort()'),
    __assert_fail: stop('assert()'),
    proc_exit: stop('exit()'),
  };
}
const NAMES = new Set(Object.keys(importsFor(() => new WebAssembly.Memory({ initial: 0 }))));

/** File calls, which all fail in the same way. */
function fileCall(name: string): Import | null {
  if (name.startsWith('__syscall_')) return () => -Errno.noSystem;
  return name.startsWith('fd_') ? () => Errno.badFile : null;
}

const MODULES = ['env', 'wasi_snapshot_preview1'];

/** Imports that this loader doesn't provide; empty: it can load the module. */
export const unsatisfied = (module: WebAssembly.Module): string[] =>
  WebAssembly.Module.imports(module).flatMap(({ module: from, name, kind }) => {
    const known =
      MODULES.includes(from) &&
      (kind === 'function'
        ? NAMES.has(name) || fileCall(name) !== null
        : kind === 'memory' && name === 'memory');
    return known ? [] : [`${from}.${name}`];
  });

/** Functions that workloads need and the module doesn't export. */
export function notExported(module: WebAssembly.Module): string[] {
  const names = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  return lacking((name) => (names.has(name) ? (): void => {} : undefined));
}

/** The size of the memory that a module imports, in pages; null where it has its own. */
function importedMemory(bytes: Uint8Array): WebAssembly.MemoryDescriptor | null {
  const section = sectionsOf(bytes).find(({ id }) => id === SectionId.import);
  if (!section) return null;
  const r = new WasmReader(bytes);
  r.at = section.start;
  for (let n = r.u32(); n > 0; n--) {
    r.skipBytes();
    r.skipBytes();
    const kind = r.byte();
    if (kind === External.memory) {
      const flags = r.byte();
      const initial = r.u32();
      const maximum = flags & 1 ? { maximum: r.u32() } : {};
      return { initial, ...maximum, ...(flags & 2 ? { shared: true } : {}) };
    }
    if (kind === External.function) r.u32();
    else if (kind === External.table) {
      r.skipType();
      r.skipLimits();
    } else if (kind === External.global) {
      r.skipType();
      r.byte();
    } else return null; // rejected already: no provided import is of this kind
  }
  return null;
}

/** An instance's memory, its own or imported. */
export function memoryOf(
  imports: WebAssembly.Imports,
  exports: WebAssembly.Exports,
): WebAssembly.Memory {
  const all = [
    ...Object.values(exports),
    ...Object.values(imports).flatMap((m) => Object.values(m)),
  ];
  const found = all.find((value) => value instanceof WebAssembly.Memory);
  if (!found) throw new Error('it has no memory that can be read');
  return found;
}

/** An instance's function table, its own or imported; null where it doesn't export one. */
export const tableOf = (
  imports: WebAssembly.Imports,
  exports: WebAssembly.Exports,
): WebAssembly.Table | null =>
  [...Object.values(exports), ...Object.values(imports).flatMap((m) => Object.values(m))].find(
    (value) => value instanceof WebAssembly.Table,
  ) ?? null;

/** The part of Emscripten's module object that the Lab uses, of any instance. */
export interface RawModule extends EngineModule {
  readonly raw: RawEngine;
}
export function rawModule(raw: RawEngine): RawModule {
  const heap = (): Uint8Array => new Uint8Array(raw.memory.buffer);
  const optional = (name: string): object => {
    const found = raw.find(name);
    return typeof found === 'function' ? { [`_${name}`]: found } : {};
  };
  return {
    raw,
    get HEAPU8() {
      return heap();
    },
    UTF8ToString(at) {
      const bytes = heap();
      return new TextDecoder().decode(bytes.slice(at, bytes.indexOf(0, at)));
    },
    getValue: (at) => new DataView(raw.memory.buffer).getInt32(at, true),
    ...optional('sqlite3_malloc'),
    ...optional('sqlite3_db_status'),
  };
}

/** SQLite's C API on a module that this file made. */
export const apiOfRaw = (module: EngineModule): SqliteApi => rawApi((module as RawModule).raw);

/** @param bytes of the module: its imports define the initial memory size */
export function plainFactory(bytes: Uint8Array): EngineFactory {
  const size = importedMemory(bytes);
  return ({ instantiateWasm }) =>
    new Promise<EngineModule>((resolve, reject) => {
      const imported = size && new WebAssembly.Memory(size);
      let memory = imported;
      const own = importsFor(() => memory!);
      const env = new Proxy(
        { ...own, ...(imported ? { memory: imported } : {}) },
        { get: (all, name) => Reflect.get(all, name) ?? fileCall(String(name)) },
      );
      const imports = Object.fromEntries(MODULES.map((name) => [name, env]));
      instantiateWasm(imports as unknown as WebAssembly.Imports, (instance) => {
        const { exports } = instance;
        try {
          memory ??= memoryOf({}, exports);
          const start = exports.__wasm_call_ctors ?? exports._initialize;
          if (typeof start === 'function') (start as () => void)();
          resolve(
            rawModule({ memory, table: tableOf({}, exports), find: (name) => exports[name] }),
          );
        } catch (e) {
          reject(e instanceof Error ? e : new Error(String(e)));
        }
      });
    });
}
