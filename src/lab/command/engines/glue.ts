/**
 * JavaScript that comes with a wasm file in npm packages. It runs in this process, as any imported
 * package does.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { EngineFactory, EngineModule, SqliteApi } from '../../experiments/engine/builds.ts';
import { memoryOf, rawModule, tableOf } from '../../experiments/engine/plain-loader.ts';

type Glue = (options: object) => Promise<Readonly<Record<string, unknown>>>;

/** Emscripten's glue assumes that it owns the process, and ends it when any promise is rejected. */
const TAKEN = ['uncaughtException', 'unhandledRejection'] as const;
async function keepingProcess<T>(work: () => Promise<T>): Promise<T> {
  const before = TAKEN.map((name) => process.rawListeners(name));
  try {
    return await work();
  } finally {
    TAKEN.forEach((name, i) => {
      for (const listener of process.rawListeners(name))
        if (!before[i]!.includes(listener)) process.off(name, listener as () => void);
    });
  }
}

const factoryIn = (loaded: unknown, path: string): Glue => {
  const found =
    typeof loaded === 'function' ? loaded : (loaded as { default?: unknown } | null)?.default;
  if (typeof found !== 'function') throw new Error(`${path} exports no function that loads SQLite`);
  return found as Glue;
};

/** CommonJS glue reuses its first instance, so it is evaluated again for each one. */
async function freshGlue(path: string): Promise<Glue> {
  if (path.endsWith('.mjs')) return factoryIn(await import(pathToFileURL(path).href), path);
  const require = createRequire(path);
  Reflect.deleteProperty(require.cache, require.resolve(path));
  return factoryIn(require(path), path);
}

/** Instances from this glue, used through SQLite's C API. @param path of the JavaScript file */
export const glueFactory =
  (path: string): EngineFactory =>
  ({ instantiateWasm }) =>
    keepingProcess(async () => {
      const glue = await freshGlue(path);
      let memory: WebAssembly.Memory | null = null;
      let table: WebAssembly.Table | null = null;
      const module = await glue({
        print: () => {},
        printErr: () => {},
        instantiateWasm: ((imports, done) =>
          instantiateWasm(imports, (instance, compiled) => {
            memory = memoryOf(imports, instance.exports);
            table = tableOf(imports, instance.exports);
            done(instance, compiled);
          })) satisfies Parameters<EngineFactory>[0]['instantiateWasm'],
      });
      if (!memory) throw new Error(`${path} doesn't load its wasm file by instantiateWasm`);
      return rawModule({ memory, table, find: (name) => module[`_${name}`] });
    });

/** The functions of wa-sqlite's API that workloads call. */
const OWN_API = [
  'libversion',
  'open_v2',
  'close',
  'exec',
  'statements',
  'step',
  'reset',
  'row',
  'column_names',
  'bind',
] as const satisfies readonly (keyof SqliteApi)[];

/** A wa-sqlite release with its own glue and API. @param paths of the two JavaScript files */
export async function ownApi(
  gluePath: string,
  apiPath: string,
): Promise<{ factory: EngineFactory; api: (module: EngineModule) => SqliteApi }> {
  const glue = factoryIn(await import(pathToFileURL(gluePath).href), gluePath);
  const { Factory } = (await import(pathToFileURL(apiPath).href)) as {
    Factory?: (module: EngineModule) => SqliteApi;
  };
  if (typeof Factory !== 'function') throw new Error(`${apiPath} exports no Factory`);
  return {
    factory: (options) =>
      keepingProcess(() => glue(options) as Promise<unknown> as Promise<EngineModule>),
    api: (module) => {
      const api = Factory(module);
      const missing = OWN_API.filter((name) => typeof api[name] !== 'function');
      if (missing.length) throw new Error(`its API has no ${missing.join(', ')}`);
      return api;
    },
  };
}
