/**
 * sqlite.org's build with its package's JavaScript, which contains VFSs. The caller provides the
 * package.
 */
import { replace } from '../../meter/seeded-realm.ts';
import type { EngineFactory } from './builds.ts';
import { memoryOf, rawModule, tableOf, type RawModule } from './plain-loader.ts';

type Instantiate = Parameters<EngineFactory>[0]['instantiateWasm'];

/** The part of its API that the Lab uses. */
export interface Sqlite3 {
  readonly version: { readonly libVersion: string };
  readonly capi: {
    sqlite3_vfs_find(name: string): number;
    sqlite3_vfs_register(pVfs: number, asDefault: number): number;
  };
  installOpfsSAHPoolVfs(options: {
    name: string;
    directory: string;
    verbosity: number;
    clearOnInit?: boolean;
  }): Promise<SahPool>;
}
export interface SahPool {
  readonly OpfsSAHPoolDb: new (file: string) => {
    exec(options: { sql: string; rowMode: 'array'; callback: (row: unknown[]) => void }): unknown;
    close(): void;
  };
  pauseVfs(): unknown;
  removeVfs(): Promise<boolean>;
}
/** What the package exports. */
export type SqliteOrgInit = (options: { instantiateWasm: Instantiate }) => Promise<Sqlite3>;

const quiet = (): void => {};

/** @param vfs the wanted VFS of those that start by themselves, each with a worker; null: none */
export async function startSqliteOrg(
  init: SqliteOrgInit,
  vfs: string | null,
  instantiateWasm: Instantiate,
): Promise<Sqlite3> {
  // read, and removed, by the package when it starts
  (globalThis as { sqlite3ApiConfig?: object }).sqlite3ApiConfig = {
    disable: { vfs: { opfs: vfs !== 'opfs', 'opfs-wl': vfs !== 'opfs-wl', kvvfs: true } },
    ...{ log: quiet, warn: quiet, error: quiet, debug: quiet },
  };
  return init({ instantiateWasm });
}

export interface SqliteOrgModule extends RawModule {
  readonly sqlite3: Sqlite3;
  /** Workers that its VFSs have started. */
  readonly workers: readonly Worker[];
}

export const sqliteOrgFactory =
  (init: SqliteOrgInit, vfs: string | null): EngineFactory =>
  async ({ instantiateWasm }) => {
    const workers: Worker[] = [];
    // only its VFSs have references to their workers, and they end none
    const restore =
      typeof Worker === 'undefined' ? quiet : replace(globalThis, 'Worker', watched(workers));
    try {
      let raw: RawModule['raw'] | null = null;
      const sqlite3 = await startSqliteOrg(init, vfs, (imports, done) =>
        instantiateWasm(imports, (instance, module) => {
          const { exports } = instance;
          raw = {
            memory: memoryOf(imports, exports),
            table: tableOf(imports, exports),
            find: (name) => exports[name],
          };
          done(instance, module);
        }),
      );
      if (!raw) throw new Error("its JavaScript doesn't load its wasm file by instantiateWasm");
      return Object.assign(rawModule(raw), { sqlite3, workers }) satisfies SqliteOrgModule;
    } finally {
      restore();
    }
  };

const watched = (into: Worker[]): typeof Worker =>
  class extends Worker {
    constructor(...args: ConstructorParameters<typeof Worker>) {
      super(...args);
      into.push(this);
    }
  };
