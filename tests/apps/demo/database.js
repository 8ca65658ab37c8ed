// Opens SQLite (@journeyapps/wa-sqlite) on one of three VFSs, with the few calls that the notes need.
import * as SQLite from '../node_modules/@journeyapps/wa-sqlite/src/sqlite-api.js';

const PACKAGE = '../node_modules/@journeyapps/wa-sqlite';
const BUILDS = {
  sync: 'wa-sqlite.mjs',
  asyncify: 'wa-sqlite-async.mjs',
  jspi: 'wa-sqlite-jspi.mjs',
};
const VFS_BUILD = { OPFSCoopSync: 'sync', AccessHandlePool: 'sync', IDBBatchAtomic: 'asyncify' };

/**
 * Opens `fieldnotes.db` on a VFS, with a separate database for each. Rejects with a message for the
 * user if the browser can't.
 */
export async function openDatabase({ vfs = 'OPFSCoopSync', build = VFS_BUILD[vfs] }) {
  if (!VFS_BUILD[vfs])
    throw new Error(
      `There is no storage called "${vfs}". Choose one of ${Object.keys(VFS_BUILD).join(', ')}.`,
    );
  if (!BUILDS[build])
    throw new Error(
      `There is no build called "${build}". Choose one of ${Object.keys(BUILDS).join(', ')}.`,
    );
  if (build === 'jspi' && !('Suspending' in WebAssembly))
    throw new Error('This browser does not have JSPI. Choose IndexedDB, Asyncify.');
  const { default: factory } = await import(`${PACKAGE}/dist/${BUILDS[build]}`);
  const module = await factory();
  const sqlite3 = SQLite.Factory(module);
  const classes = await import(`${PACKAGE}/src/examples/${vfs}VFS.js`);
  sqlite3.vfs_register(await classes[`${vfs}VFS`].create(`fieldnotes-${vfs}`, module), true);
  const db = await sqlite3.open_v2('fieldnotes.db');

  /** Runs one or more statements without parameters. */
  const exec = (sql) => sqlite3.exec(db, sql);

  /** Runs one statement with parameters. Returns its rows as objects. */
  async function all(sql, params = []) {
    const rows = [];
    for await (const statement of sqlite3.statements(db, sql)) {
      if (params.length) sqlite3.bind_collection(statement, params);
      const names = sqlite3.column_names(statement);
      while ((await sqlite3.step(statement)) === SQLite.SQLITE_ROW)
        rows.push(
          Object.fromEntries(
            sqlite3
              .row(statement)
              .map((value, i) => [names[i], typeof value === 'bigint' ? Number(value) : value]),
          ),
        );
    }
    return rows;
  }

  /** Prepares a statement once, and runs it for each set of parameters. */
  async function each(sql, sets) {
    for await (const statement of sqlite3.statements(db, sql))
      for (const params of sets) {
        sqlite3.bind_collection(statement, params);
        await sqlite3.step(statement);
        await sqlite3.reset(statement);
      }
  }

  /** Runs `work` in one transaction, and rolls it back if `work` throws. */
  async function transaction(work) {
    await exec('BEGIN IMMEDIATE');
    try {
      const result = await work();
      await exec('COMMIT');
      return result;
    } catch (error) {
      // some errors have already rolled back, so there is nothing to undo
      if (!sqlite3.get_autocommit(db)) await exec('ROLLBACK');
      throw error;
    }
  }

  return { exec, all, each, transaction, version: sqlite3.libversion(), vfs, build };
}
