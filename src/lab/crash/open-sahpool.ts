/**
 * Opens the database of a crash test on opfs-sahpool, the VFS of the package
 * @sqlite.org/sqlite-wasm, through the package's API.
 */
import { startSqliteOrg, type SqliteOrgInit } from '../experiments/engine/sqlite-org.ts';
import { FILE, reused, type Opener } from './open.ts';

/** The package's bundle for browsers, and its wasm file. */
export interface SqliteWasm {
  readonly init: SqliteOrgInit;
  readonly wasm: WebAssembly.Module;
  readonly wasmBytes: number;
  /** Version of the package. */
  readonly version: string;
}

/** The package's default name for it. */
const FOLDER = '.opfs-sahpool';

export function sahpoolOpener({ init, wasm, wasmBytes, version }: SqliteWasm): Opener {
  let sessions = 0;
  // its other VFSs need workers
  const engines = reused(() =>
    startSqliteOrg(init, null, (imports, done) => {
      void WebAssembly.instantiate(wasm, imports).then((instance) => done(instance, wasm));
      return {};
    }),
  );
  return async () => {
    const sqlite3 = await engines.take();
    const pool = await sqlite3.installOpfsSAHPoolVfs({
      name: `opfs-sahpool-${++sessions}`, // a name that was already installed isn't installed again
      directory: FOLDER,
      verbosity: 0,
    });
    const db = new pool.OpfsSAHPoolDb(`/${FILE}`);
    return {
      sqlite3: {
        exec(_db, sql, row) {
          db.exec({ sql, rowMode: 'array', callback: (values) => row?.(values, []) });
          return Promise.resolve(0);
        },
      },
      db: 0,
      engine: {
        ...{ package: '@sqlite.org/sqlite-wasm', version, variant: 'sync', wasmBytes },
        sqlite: sqlite3.version.libVersion,
      },
      lastError: () => '',
      close() {
        db.close();
        pool.pauseVfs();
        engines.giveBack(sqlite3);
        return Promise.resolve();
      },
    };
  };
}
