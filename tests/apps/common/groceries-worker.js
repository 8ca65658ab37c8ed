// The worker of the groceries app: SQLite on OPFSCoopSync, for the apps that bundlers build.
import { OPFSCoopSyncVFS } from '@journeyapps/wa-sqlite/src/examples/OPFSCoopSyncVFS.js';
import * as SQLite from '@journeyapps/wa-sqlite/src/sqlite-api.js';
import factory from '@journeyapps/wa-sqlite/dist/wa-sqlite.mjs';

/** @param {string} wasm its URL, from the bundler */
export async function serveGroceries(wasm) {
  const module = await factory({ locateFile: () => wasm });
  const sqlite3 = SQLite.Factory(module);
  sqlite3.vfs_register(await OPFSCoopSyncVFS.create('groceries', module), true);
  const db = await sqlite3.open_v2('groceries.db');
  await sqlite3.exec(
    db,
    'CREATE TABLE IF NOT EXISTS groceries (id INTEGER PRIMARY KEY, name TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0)',
  );

  /** One request after another, because a connection has one transaction. */
  let last = Promise.resolve();
  onmessage = ({ data: { sql, parameters } }) => {
    last = last.then(async () => {
      await sqlite3.exec(db, 'BEGIN IMMEDIATE');
      for (const values of parameters)
        for await (const statement of sqlite3.statements(db, sql)) {
          sqlite3.bind_collection(statement, values);
          await sqlite3.step(statement);
        }
      await sqlite3.exec(db, 'COMMIT');
      await tell();
    });
  };
  const tell = async () => {
    const rows = [];
    await sqlite3.exec(db, 'SELECT id, name, done FROM groceries ORDER BY id', ([id, name, done]) =>
      rows.push({ id, name, done: done === 1 }),
    );
    postMessage(rows);
  };
  await tell();
}
