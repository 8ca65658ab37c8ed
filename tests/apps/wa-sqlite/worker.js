// wa-sqlite 1.0.0 as its README and demo load it, in a module worker.
// ?vfs=AccessHandlePool (default) | IDBBatchAtomic | IDBMinimal | IDBVersioned | OriginPrivateFileSystem | Memory | MemoryAsync   &build=sync | asyncify
import * as SQLite from '../node_modules/wa-sqlite/src/sqlite-api.js';
import { serve } from '../common/engine-worker.js';

const EXAMPLES = '../node_modules/wa-sqlite/src/examples';
const BUILDS = { sync: 'wa-sqlite.mjs', asyncify: 'wa-sqlite-async.mjs' };

/** The build that each VFS needs, and how it is created. */
const VFS = {
  AccessHandlePool: {
    build: 'sync',
    make: ({ AccessHandlePoolVFS }) => new AccessHandlePoolVFS('/wa-sqlite-pool'),
  },
  Memory: { build: 'sync', make: ({ MemoryVFS }) => new MemoryVFS() },
  MemoryAsync: { build: 'asyncify', make: ({ MemoryAsyncVFS }) => new MemoryAsyncVFS() },
  IDBBatchAtomic: {
    build: 'asyncify',
    make: ({ IDBBatchAtomicVFS }) => new IDBBatchAtomicVFS('wa-sqlite-blocks'),
  },
  IDBMinimal: {
    build: 'asyncify',
    make: ({ IDBMinimalVFS }) => new IDBMinimalVFS('wa-sqlite-blocks'),
  },
  IDBVersioned: {
    build: 'asyncify',
    make: ({ IDBVersionedVFS }) => new IDBVersionedVFS('wa-sqlite-blocks'),
  },
  OriginPrivateFileSystem: {
    build: 'asyncify',
    make: ({ OriginPrivateFileSystemVFS }) => new OriginPrivateFileSystemVFS(),
  },
};

let sqlite3;

serve({
  async load({ vfs = 'AccessHandlePool', build }) {
    if (!VFS[vfs]) throw new Error(`no VFS "${vfs}"; there are ${Object.keys(VFS).join(', ')}`);
    build ??= VFS[vfs].build;
    if (!BUILDS[build])
      throw new Error(`no build "${build}"; there are ${Object.keys(BUILDS).join(', ')}`);
    const { default: SQLiteESMFactory } = await import(
      `../node_modules/wa-sqlite/dist/${BUILDS[build]}`
    );
    sqlite3 = SQLite.Factory(await SQLiteESMFactory());
    const instance = VFS[vfs].make(await import(`${EXAMPLES}/${vfs}VFS.js`));
    await instance.isReady;
    sqlite3.vfs_register(instance, true);
    return { package: 'wa-sqlite', sqliteVersion: sqlite3.libversion(), vfs, build };
  },

  async open(name) {
    const db = await sqlite3.open_v2(name);
    return {
      async exec(sql) {
        const rows = [];
        await sqlite3.exec(db, sql, (row) => rows.push(row));
        return rows;
      },
      close: () => sqlite3.close(db),
    };
  },
});
