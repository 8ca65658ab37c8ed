// @journeyapps/wa-sqlite 2.0.6 as its README loads it, in a module worker.
// ?vfs=OPFSCoopSync (default) | AccessHandlePool | OPFSAdaptive | OPFSAnyContext | OPFSPermuted | OPFSWriteAhead | IDBBatchAtomic | IDBMirror
//     | Memory | MemoryAsync   &build=sync | asyncify | jspi (a VFS with asynchronous methods needs one of the last two)
//     &scalar=1: each connection has an SQL function slow_scalar(x) in JavaScript
//     &lockPolicy=exclusive (default) | shared | shared%2Bhint
import * as SQLite from '../node_modules/@journeyapps/wa-sqlite/src/sqlite-api.js';
import { serve } from '../common/engine-worker.js';

const PACKAGE = '../node_modules/@journeyapps/wa-sqlite';
const BUILDS = {
  sync: 'wa-sqlite.mjs',
  asyncify: 'wa-sqlite-async.mjs',
  jspi: 'wa-sqlite-jspi.mjs',
  // Includes SQLite3MultipleCiphers (no key is set here).
  'mc-sync': 'mc-wa-sqlite.mjs',
  'mc-asyncify': 'mc-wa-sqlite-async.mjs',
  'mc-jspi': 'mc-wa-sqlite-jspi.mjs',
  // With dynamic linking, for extensions that are loaded at run time.
  'dynamic-sync': 'wa-sqlite-dynamic-main.mjs',
  'dynamic-asyncify': 'wa-sqlite-async-dynamic-main.mjs',
};

/** The VFSs, and the default build of each. */
const VFS = {
  OPFSCoopSync: 'sync',
  AccessHandlePool: 'sync',
  OPFSWriteAhead: 'sync',
  Memory: 'sync',
  MemoryAsync: 'asyncify',
  OPFSAdaptive: 'asyncify',
  OPFSAnyContext: 'asyncify',
  OPFSPermuted: 'asyncify',
  IDBBatchAtomic: 'asyncify',
  IDBMirror: 'asyncify',
};

let sqlite3;
let malloc;
let withScalar = false;

/** An app's own SQL function, which takes most of the time. */
function slowScalar(context, [value]) {
  let hash = sqlite3.value_int(value);
  for (let i = 0; i < 4000; i++) hash = (Math.imul(hash, 31) + i) | 0;
  sqlite3.result(context, hash & 1);
}

serve({
  async load({ vfs = 'OPFSCoopSync', build = VFS[vfs], lockPolicy, scalar }) {
    withScalar = scalar === '1';
    if (!VFS[vfs]) throw new Error(`no VFS "${vfs}"; there are ${Object.keys(VFS).join(', ')}`);
    if (!BUILDS[build])
      throw new Error(`no build "${build}"; there are ${Object.keys(BUILDS).join(', ')}`);
    const { default: SQLiteESMFactory } = await import(`${PACKAGE}/dist/${BUILDS[build]}`);
    const module = await SQLiteESMFactory();
    sqlite3 = SQLite.Factory(module);
    malloc = module._malloc;
    const example = await import(`${PACKAGE}/src/examples/${vfs}VFS.js`);
    const options = lockPolicy ? { lockPolicy } : undefined;
    sqlite3.vfs_register(await example[`${vfs}VFS`].create('wa-sqlite', module, options), true);
    return { package: '@journeyapps/wa-sqlite', sqliteVersion: sqlite3.libversion(), vfs, build };
  },

  async open(name) {
    const db = await sqlite3.open_v2(name);
    if (withScalar)
      sqlite3.create_function(db, 'slow_scalar', 1, SQLite.SQLITE_UTF8, 0, slowScalar);
    return {
      async exec(sql) {
        const rows = [];
        await sqlite3.exec(db, sql, (row) => rows.push(row));
        return rows;
      },
      async hold(sql) {
        for await (const statement of sqlite3.statements(db, sql, { unscoped: true })) {
          await sqlite3.step(statement);
          return;
        }
      },
      async bound(sql, times) {
        const rows = [];
        for await (const statement of sqlite3.statements(db, sql))
          for (let i = 0; i < times; i++) {
            sqlite3.bind_collection(statement, [i]);
            while ((await sqlite3.step(statement)) === SQLite.SQLITE_ROW)
              rows.push(sqlite3.row(statement));
            await sqlite3.reset(statement);
          }
        return rows;
      },
      async allocate(mb, sql) {
        const rows = [];
        let running = sql !== undefined;
        const done = running
          ? sqlite3.exec(db, sql, (row) => rows.push(row)).finally(() => (running = false))
          : null;
        for (let i = 0; i < mb && (running || !done); i++) {
          malloc(1e6);
          if (running) await new Promise((resolve) => setTimeout(resolve, 1));
        }
        await done;
        return rows;
      },
      close: () => sqlite3.close(db),
    };
  },
});
