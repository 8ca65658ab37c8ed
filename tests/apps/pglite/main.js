// @electric-sql/pglite as its README loads it: Postgres in the page, ?vfs=idb (default: every file
// of the server in IndexedDB) | memory.
import { pageSession, startPage } from '../common/engine-page.js';
import { createSession } from '../common/engine-worker.js';
import { PGlite } from '../node_modules/@electric-sql/pglite/dist/index.js';

const VFS = { idb: (name) => `idb://${name}`, memory: () => 'memory://' };

let directory;

const engine = {
  async load({ vfs = 'idb' }) {
    directory = VFS[vfs];
    if (!directory) throw new Error(`no VFS "${vfs}"; there are ${Object.keys(VFS).join(', ')}`);
    return { package: '@electric-sql/pglite', sqliteVersion: null, vfs, build: 'sync' };
  },

  async open(name) {
    const db = await PGlite.create(directory(name));
    return {
      notSQLite: true,
      exec: async (sql) => (await db.query(sql, [], { rowMode: 'array' })).rows,
      close: () => db.close(),
    };
  },
};

await startPage({ connect: () => pageSession(createSession(engine)) });
