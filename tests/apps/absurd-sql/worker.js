// absurd-sql as its README loads it: SQLite's blocks in IndexedDB. Below /coi/ SQLite waits in
// Atomics.wait for a second worker that talks to IndexedDB; without SharedArrayBuffer it falls back
// to reading the whole file first and writing later.
import initSqlJs from '@jlongster/sql.js';
import { SQLiteFS } from 'absurd-sql';
import IndexedDBBackend from 'absurd-sql/dist/indexeddb-backend';
import { serve } from '../common/engine-worker.js';

const fallback = typeof SharedArrayBuffer === 'undefined';

let SQL;

/** Fallback only: reads the whole file into memory, after all pending writes to it. */
async function readIfFallback(path) {
  if (!fallback) return;
  const stream = SQL.FS.open(path, 'a+');
  await stream.node.contents.readIfFallback();
  SQL.FS.close(stream);
}

serve({
  async load() {
    SQL = await initSqlJs({
      locateFile: (file) =>
        new URL(`../node_modules/@jlongster/sql.js/dist/${file}`, self.location.href).href,
    });
    const files = new SQLiteFS(SQL.FS, new IndexedDBBackend());
    SQL.register_for_idb(files);
    SQL.FS.mkdir('/sql');
    SQL.FS.mount(files, {}, '/sql');
    const probe = new SQL.Database();
    const sqliteVersion = probe.exec('SELECT sqlite_version()')[0].values[0][0];
    probe.close();
    return {
      package: 'absurd-sql',
      sqliteVersion,
      vfs: 'IndexedDBBackend',
      build: fallback ? 'fallback' : 'shared memory',
    };
  },

  async open(name) {
    const path = `/sql/${name}`;
    await readIfFallback(path);
    const db = new SQL.Database(path, { filename: true });
    db.exec('PRAGMA journal_mode=MEMORY;');
    return {
      exec: (sql) => db.exec(sql)[0]?.values ?? [],
      async close() {
        db.close();
        // pending writes continue, and a read of the same store comes after them
        await readIfFallback(path);
      },
    };
  },
});
