/** Opens the database of a crash test on opfs-sahpool, the VFS of the package @sqlite.org/sqlite-wasm, which is no VFS of the Lab's other runs. */
import { FILE, reused, type Opener } from './open.ts';

type Instantiate = (
  imports: WebAssembly.Imports,
  done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
) => object;
interface Db {
  exec(options: { sql: string; rowMode: 'array'; callback: (row: unknown[]) => void }): unknown;
  close(): void;
}
interface Sqlite3 {
  installOpfsSAHPoolVfs(options: { name: string; directory: string; verbosity: number }): Promise<{
    OpfsSAHPoolDb: new (file: string) => Db;
    pauseVfs(): unknown;
  }>;
}
/** The package's bundle for browsers, and its wasm file. */
export interface SqliteWasm {
  readonly init: (options: { instantiateWasm: Instantiate }) => Promise<Sqlite3>;
  readonly wasm: WebAssembly.Module;
}

/** As the package names it by default. */
const FOLDER = '.opfs-sahpool';
const quiet = (): void => {};

export function sahpoolOpener({ init, wasm }: SqliteWasm): Opener {
  let sessions = 0;
  const engines = reused(() => {
    // taken, and removed, by the package when it starts. Its other VFSs need workers
    (globalThis as { sqlite3ApiConfig?: object }).sqlite3ApiConfig = {
      disable: { vfs: { opfs: true, 'opfs-wl': true, kvvfs: true } },
      ...{ log: quiet, warn: quiet, error: quiet, debug: quiet },
    };
    return init({
      instantiateWasm(imports, done) {
        void WebAssembly.instantiate(wasm, imports).then((instance) => done(instance, wasm));
        return {};
      },
    });
  });
  return async () => {
    const sqlite3 = await engines.take();
    const pool = await sqlite3.installOpfsSAHPoolVfs({
      name: `opfs-sahpool-${++sessions}`, // a name that was installed before isn't installed again
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
