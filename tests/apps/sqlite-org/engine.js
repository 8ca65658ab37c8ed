// SQLite's own build as its README loads it. ?vfs=opfs-sahpool (default) | opfs | opfs-wl | memory | kvvfs
// opfs and opfs-wl need a cross-origin isolated page: /coi/sqlite-org/?vfs=opfs
import sqlite3InitModule from '../node_modules/@sqlite.org/sqlite-wasm/dist/index.mjs';

let openDatabase;

/** How each VFS opens a database by name. */
const VFS = {
  'opfs-sahpool': async (sqlite3) => {
    const pool = await sqlite3.installOpfsSAHPoolVfs({});
    return (name) => new pool.OpfsSAHPoolDb(`/${name}`);
  },
  opfs: async (sqlite3) => {
    if (!sqlite3.oo1.OpfsDb)
      throw new Error(
        'the opfs VFS is not there: it needs a cross-origin isolated page (/coi/sqlite-org/)',
      );
    return (name) => new sqlite3.oo1.OpfsDb(`/${name}`, 'c');
  },
  'opfs-wl': async (sqlite3) => {
    if (!sqlite3.oo1.OpfsWlDb)
      throw new Error(
        'the opfs-wl VFS is not there: it needs a cross-origin isolated page (/coi/sqlite-org/)',
      );
    return (name) => new sqlite3.oo1.OpfsWlDb(`/${name}`, 'c');
  },
  memory: async (sqlite3) => (name) => new sqlite3.oo1.DB(`/${name}`, 'c'),
  kvvfs: async (sqlite3) => () => {
    // One database per origin: a new one begins with empty storage.
    sqlite3.oo1.JsStorageDb.clearStorage('local');
    return new sqlite3.oo1.JsStorageDb('local');
  },
};

export const engine = {
  async load({ vfs = 'opfs-sahpool' }) {
    if (!VFS[vfs]) throw new Error(`no VFS "${vfs}"; there are ${Object.keys(VFS).join(', ')}`);
    const sqlite3 = await sqlite3InitModule();
    openDatabase = await VFS[vfs](sqlite3);
    return {
      package: '@sqlite.org/sqlite-wasm',
      sqliteVersion: sqlite3.version.libVersion,
      vfs,
      build: 'sync',
    };
  },

  async open(name) {
    const db = openDatabase(name);
    return {
      exec: (sql) => db.exec({ sql, rowMode: 'array', returnValue: 'resultRows' }),
      close: () => db.close(),
    };
  },
};
