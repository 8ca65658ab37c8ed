/**
 * A fresh instance of a SQLite build: metered (count mode) or unchanged (time mode). Each build is
 * rewritten and compiled once.
 */
import type { EngineFacts } from '../model/environment-types.ts';
import { meterModule, type FunctionCount, type MeteredModule } from '../../meter/meter.ts';
import {
  buildOf,
  type AskedBuild,
  type Build,
  type BuildSource,
  type EngineModule,
  type SqliteApi,
} from './builds.ts';

/** How this environment gets the bytes of a wasm file, given as a path in its npm package. */
export type WasmLoader = (packagePath: string) => Promise<Uint8Array<ArrayBuffer>>;

interface Engine {
  readonly build: Build;
  readonly module: EngineModule;
  readonly sqlite3: SqliteApi;
  /** A wasm export by its name; undefined where this build has another name for it. */
  readonly exported: (name: string) => unknown;
  /** Size of the published wasm file, metered or not. */
  readonly wasmBytes: number;
  /** null when unmetered. */
  readonly instructions: (() => bigint) | null;
  /** Loads and stores so far, if requested. */
  readonly memory: (() => MemoryCount) | null;
  /** By function, if requested. */
  readonly functions: () => FunctionCount[];
}

/** `functions` counts each function separately, `memory` also counts loads and stores. */
export type Metering = 'none' | 'total' | 'functions' | 'memory';
/** Of the engine's memory. */
export interface MemoryCount {
  readonly loads: bigint;
  readonly stores: bigint;
}

/** For an open engine. @param variant of its package: `sync`, `asyncify`, `jspi` */
export const engineFacts = (
  { build, sqlite3, wasmBytes }: Pick<Engine, 'build' | 'sqlite3' | 'wasmBytes'>,
  variant: string,
): EngineFacts => ({ ...build.source, variant, sqlite: sqlite3.libversion(), wasmBytes });

interface Compiled {
  readonly module: WebAssembly.Module;
  readonly bytes: number;
  readonly metered: MeteredModule | null;
  readonly memory: ((exports: WebAssembly.Exports) => MemoryCount) | null;
}

/**
 * Names of exports in the glue: Emscripten shortens `sqlite3_step` to `ua`. Asyncify's glue wraps
 * the exports, so their names aren't visible.
 */
function glueNames(module: EngineModule, exports: WebAssembly.Exports): Map<string, string> {
  const byFunction = new Map(
    Object.entries(exports).map(([name, value]) => [value as unknown, name]),
  );
  const names = new Map<string, string>();
  for (const [name, value] of Object.entries(module)) {
    const exported = byFunction.get(value);
    if (typeof value === 'function' && exported !== undefined)
      names.set(exported, name.replace(/^_/, ''));
  }
  return names;
}

/** Opens instances and caches compiled modules. */
export class Engines {
  private readonly compiled = new Map<string, Promise<Compiled>>();
  /** @param builds where engines come from; the bundled ones by default */
  constructor(
    private readonly wasm: WasmLoader,
    private readonly builds: BuildSource = buildOf,
  ) {}

  async open(config: AskedBuild, metering: Metering): Promise<Engine> {
    const build = this.builds(config);
    const { module: compiled, bytes, metered, memory } = await this.compile(build.wasm, metering);
    const { factory, api } = await build.load();
    let exports: WebAssembly.Exports = {};
    // a failed instantiation would leave the factory's promise pending forever
    const module = await new Promise<EngineModule>((resolve, reject) => {
      factory({
        instantiateWasm(imports, done) {
          WebAssembly.instantiate(compiled, imports)
            .then((instance) => {
              exports = instance.exports;
              done(instance, compiled);
            })
            .catch(reject);
          return {};
        },
      }).then(resolve, reject);
    });
    return {
      build,
      module,
      sqlite3: api(module),
      exported: (name) => exports[name],
      wasmBytes: bytes,
      instructions: metered && (() => metered.read(exports)),
      memory: memory && (() => memory(exports)),
      functions: () => {
        const names = glueNames(module, exports);
        return (metered?.readFunctions(exports) ?? []).map((f) => ({
          ...f,
          name: names.get(f.name ?? '') ?? f.name,
        }));
      },
    };
  }

  private compile(path: string, metering: Metering): Promise<Compiled> {
    const key = `${metering} ${path}`;
    let entry = this.compiled.get(key);
    if (!entry) this.compiled.set(key, (entry = this.make(path, metering)));
    return entry;
  }
  private async make(path: string, metering: Metering): Promise<Compiled> {
    const bytes = await this.wasm(path);
    const compiled = async (
      module: Uint8Array<ArrayBuffer>,
      how: Pick<Compiled, 'metered' | 'memory'>,
    ): Promise<Compiled> => ({
      module: await WebAssembly.compile(module),
      bytes: bytes.byteLength,
      ...how,
    });
    if (metering === 'none') return compiled(bytes, { metered: null, memory: null });
    const metered = meterModule(bytes, {
      counters: metering === 'functions' ? 'functions' : 'total',
    });
    if (metering !== 'memory') return compiled(metered.bytes, { metered, memory: null });
    // one counter on top of the other: neither counts the other's additions, so each counts as if
    // it were alone
    const loads = meterModule(metered.bytes, { counted: 'loads' });
    const stores = meterModule(loads.bytes, { counted: 'stores' });
    return compiled(stores.bytes, {
      metered,
      memory: (exports) => ({ loads: loads.read(exports), stores: stores.read(exports) }),
    });
  }
}
