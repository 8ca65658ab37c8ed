// absurd-sql and its author's sql.js declare no types. These are the parts that the Lab uses.
declare module 'absurd-sql/src/indexeddb/worker.js';
declare module 'absurd-sql' {
  /** A file system for Emscripten. */
  export class SQLiteFS {
    constructor(fs: unknown, backend: unknown);
    readonly node_ops: {
      mknod: (parent: unknown, name: string, ...rest: unknown[]) => unknown;
    };
  }
}
declare module 'absurd-sql/dist/indexeddb-backend.js' {
  export interface BackendFile {
    readonly ops: { open(): void; close(): void };
  }
  export default class IndexedDBBackend {
    createFile(name: string): BackendFile;
  }
}
declare module '@jlongster/sql.js/dist/sql-wasm.js' {
  interface SqlJs extends Readonly<Record<string, unknown>> {
    readonly FS: {
      mkdir(path: string): void;
      mount(type: unknown, options: object, path: string): void;
      chdir(path: string): void;
      readonly ErrnoError: new (errno: number) => Error;
    };
    register_for_idb(files: unknown): void;
  }
  /** As built by tools/build/absurd-sql.mjs: each call evaluates the script again. */
  export default function load(): (options: object) => Promise<SqlJs>;
}
