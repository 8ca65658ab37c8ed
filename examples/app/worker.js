// SQLite in a worker, on the origin private file system.
import * as SQLite from '@journeyapps/wa-sqlite';
import SQLiteESMFactory from '@journeyapps/wa-sqlite/dist/wa-sqlite.mjs';
import { AccessHandlePoolVFS } from '@journeyapps/wa-sqlite/src/examples/AccessHandlePoolVFS.js';

const open = (async () => {
  const module = await SQLiteESMFactory();
  const sqlite3 = SQLite.Factory(module);
  sqlite3.vfs_register(await AccessHandlePoolVFS.create('notes', module), true);
  const db = await sqlite3.open_v2('notes.db');
  await sqlite3.exec(db, 'CREATE TABLE IF NOT EXISTS notes(id INTEGER PRIMARY KEY, text TEXT)');
  return { sqlite3, db };
})();

let last = Promise.resolve();
onmessage = ({ data: { sql, values } }) => {
  last = last.then(async () => {
    const { sqlite3, db } = await open;
    const rows = [];
    for await (const statement of sqlite3.statements(db, sql)) {
      sqlite3.bind_collection(statement, values);
      while ((await sqlite3.step(statement)) === SQLite.SQLITE_ROW)
        rows.push(sqlite3.row(statement));
    }
    postMessage(rows);
  });
};
