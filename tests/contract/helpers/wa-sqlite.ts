/** wa-sqlite's builds in Node, each as a fresh engine with an in-memory VFS under it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The part of wa-sqlite's API that the tests use. */
export interface Sqlite {
  open_v2(name: string, flags?: number, vfs?: string): Promise<number>;
  close(db: number): Promise<number>;
  exec(db: number, sql: string, row?: (row: unknown[], columns: string[]) => void): Promise<number>;
  /** @param options unscoped: statements aren't finalized automatically */
  statements(db: number, sql: string, options?: { unscoped: boolean }): AsyncIterable<number>;
  prepare_v2(db: number, sql: number): Promise<{ stmt: number; sql: number } | null>;
  step(stmt: number): Promise<number>;
  reset(stmt: number): Promise<number>;
  finalize(stmt: number): Promise<number>;
  column(stmt: number, i: number): unknown;
  bind_collection(stmt: number, values: unknown[]): number;
  vfs_register(vfs: object, makeDefault?: boolean): number;
  create_function(
    db: number,
    name: string,
    args: number,
    encoding: number,
    data: number,
    run: (context: number) => void,
  ): number;
  result(context: number, value: unknown): void;
}
export interface WaSqlite {
  sqlite3: Sqlite;
  module: Record<string, unknown>;
  vfs: Record<string, unknown>;
}
export type Build = 'journey-sync' | 'journey-async' | 'wa1-sync' | 'wa1-async';

const wasmBinary = (specifier: string): Uint8Array => readFileSync(require.resolve(specifier));

/** @param file another build of the same kind: its name in the package's dist folder */
export async function loadWaSqlite(
  build: Build,
  vfsName = 'memory',
  file?: string,
): Promise<WaSqlite> {
  const journey = build.startsWith('journey');
  const suffix = build.endsWith('async') ? '-async' : '';
  const root = journey ? '@journeyapps/wa-sqlite' : 'wa-sqlite';
  const name = file ?? `wa-sqlite${suffix}`;
  const wasm = wasmBinary(`${root}/dist/${name}.wasm`);
  const { default: factory } = (await import(`${root}/dist/${name}.mjs`)) as {
    default: (o: object) => Promise<Record<string, unknown>>;
  };
  const SQLite = (await import(journey ? root : `${root}/src/sqlite-api.js`)) as {
    Factory: (m: object) => Sqlite;
  };
  const module = await factory({ wasmBinary: wasm });
  const sqlite3 = SQLite.Factory(module);
  const vfs = await makeVfs(root, build, module, vfsName);
  sqlite3.vfs_register(vfs, true);
  return { sqlite3, module, vfs };
}

type Method = (...args: unknown[]) => unknown;
const J_METHODS =
  'jOpen jClose jRead jWrite jTruncate jSync jFileSize jLock jUnlock jDelete jAccess'.split(' ');

async function makeVfs(
  root: string,
  build: Build,
  module: object,
  name: string,
): Promise<Record<string, unknown>> {
  const file = build === 'wa1-async' ? 'MemoryAsyncVFS' : 'MemoryVFS';
  const classes = (await import(`${root}/src/examples/${file}.js`)) as Record<
    string,
    (new () => Record<string, unknown>) & {
      create?: (name: string, module: object) => Promise<Record<string, unknown>>;
    }
  >;
  const Vfs = classes[file]!;
  if (!Vfs.create) return Object.assign(new Vfs(), { name });
  const vfs = await Vfs.create(name, module);
  for (const method of ['jSync', 'jLock', 'jUnlock']) vfs[method] = () => 0;
  // the package's MemoryAsyncVFS isn't asynchronous: here every call suspends for two microtask
  // turns
  if (build === 'journey-async')
    for (const method of J_METHODS) {
      const now = (vfs[method] as Method).bind(vfs);
      vfs[method] = async (...args: unknown[]): Promise<unknown> => {
        await Promise.resolve();
        return now(...args);
      };
    }
  return vfs;
}

/** The insert workload of the goldens: T, then 1000 autocommit inserts. */
export const CREATE_T = 'CREATE TABLE t(a INTEGER PRIMARY KEY,b INT,c TEXT);';
export const insertT = (i: number): string =>
  `INSERT INTO t VALUES(${i},${i * 7},'text number ${i}');`;
