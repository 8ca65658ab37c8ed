/**
 * The SQLite builds for experiments: the locations of their glue, API, and wasm. Everything is
 * loaded on first use.
 */
import { isBundled } from '../model/engine-names.ts';
import type { BundledEngine, Config } from '../model/types.ts';

/** The part of wa-sqlite's API that workloads need; 1.0 and 2.x both have it. */
export interface SqliteApi {
  libversion(): string;
  open_v2(name: string, flags?: number, vfs?: string): Promise<number>;
  close(db: number): Promise<number>;
  exec(db: number, sql: string, row?: (row: unknown[], columns: string[]) => void): Promise<number>;
  /**
   * The statements of a script, one after the other. The end of the iterator finalizes the last
   * one.
   */
  statements(db: number, sql: string): AsyncIterable<number>;
  step(stmt: number): Promise<number>;
  reset(stmt: number): Promise<number>;
  row(stmt: number): unknown[];
  column_names(stmt: number): string[];
  bind(stmt: number, i: number, value: unknown): number;
}

/** Emscripten's module object, with the parts that experiments use. */
export interface EngineModule {
  HEAPU8: Uint8Array;
  UTF8ToString(pointer: number): string;
  getValue(pointer: number, type: string): number;
  _sqlite3_malloc?(bytes: number): number;
  _sqlite3_db_status?(
    db: number,
    op: number,
    pCurrent: number,
    pHighest: number,
    reset: number,
  ): number;
}
interface FactoryOptions {
  /** Emscripten calls it instead of fetching. */
  readonly instantiateWasm: (
    imports: WebAssembly.Imports,
    done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ) => object;
}
export type EngineFactory = (options: FactoryOptions) => Promise<EngineModule>;
/** 1.0 and 2.x pass different arguments to VFS methods. */
export type Generation = 1 | 2;

export interface Build {
  readonly generation: Generation;
  /** The wasm file: a path in its npm package, or a file system path where it isn't bundled. */
  readonly wasm: string;
  /**
   * The npm package and its version. For a file outside a package: its name and the beginning of
   * its SHA-256.
   */
  readonly source: { readonly package: string; readonly version: string };
  readonly load: () => Promise<{
    factory: EngineFactory;
    api: (module: EngineModule) => SqliteApi;
  }>;
}

type Glue = { default: unknown };
type Api = { Factory: unknown };
const of = async (
  glue: Promise<unknown>,
  api: Promise<unknown>,
): Promise<{ factory: EngineFactory; api: (m: EngineModule) => SqliteApi }> => ({
  factory: ((await glue) as Glue).default as EngineFactory,
  api: ((await api) as Api).Factory as (m: EngineModule) => SqliteApi,
});

const api2 = (): Promise<unknown> => import('@journeyapps/wa-sqlite');
const api1 = (): Promise<unknown> => import('wa-sqlite');

type Known = Omit<Build, 'source'>;
const BUILDS: Readonly<Record<BundledEngine, Readonly<Partial<Record<Config['build'], Known>>>>> = {
  'wa-sqlite-2.0.6': {
    sync: {
      generation: 2,
      wasm: '@journeyapps/wa-sqlite/dist/wa-sqlite.wasm',
      load: () => of(import('@journeyapps/wa-sqlite/dist/wa-sqlite.mjs'), api2()),
    },
    asyncify: {
      generation: 2,
      wasm: '@journeyapps/wa-sqlite/dist/wa-sqlite-async.wasm',
      load: () => of(import('@journeyapps/wa-sqlite/dist/wa-sqlite-async.mjs'), api2()),
    },
    jspi: {
      generation: 2,
      wasm: '@journeyapps/wa-sqlite/dist/wa-sqlite-jspi.wasm',
      // @ts-expect-error the package declares no types for this build
      load: () => of(import('@journeyapps/wa-sqlite/dist/wa-sqlite-jspi.mjs'), api2()),
    },
  },
  'wa-sqlite-1.0.0': {
    sync: {
      generation: 1,
      wasm: 'wa-sqlite/dist/wa-sqlite.wasm',
      load: () => of(import('wa-sqlite/dist/wa-sqlite.mjs'), api1()),
    },
    asyncify: {
      generation: 1,
      wasm: 'wa-sqlite/dist/wa-sqlite-async.wasm',
      load: () => of(import('wa-sqlite/dist/wa-sqlite-async.mjs'), api1()),
    },
  },
};

/** Where an engine's builds come from. @throws where the build doesn't exist */
export type BuildSource = (config: AskedBuild) => Build;
/** The VFS, if known: a build may contain several. */
export type AskedBuild = Pick<Config, 'engine' | 'build'> & Partial<Pick<Config, 'vfs'>>;

/** The bundled ones. */
export const buildOf: BuildSource = ({ engine, build }) => {
  if (!isBundled(engine)) throw new Error(`${engine} is not part of vfscope.`);
  const found = BUILDS[engine][build];
  if (!found)
    throw new Error(
      `${engine} has no ${build} build; it has ${Object.keys(BUILDS[engine]).join(', ')}.`,
    );
  const source = {
    package: found.wasm.split('/dist/')[0]!,
    version: /[\d.]+$/.exec(engine)![0],
  };
  return { ...found, source };
};
