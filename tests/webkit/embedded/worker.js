// A worker that imports the hook first. For each message it writes a note and responds with the
// number of notes; for `save` it responds with its own trace.
import vfscope from '/lib/hook.js';
import SQLiteESMFactory from '/node_modules/@journeyapps/wa-sqlite/dist/wa-sqlite-async.mjs';
import * as SQLite from '/node_modules/@journeyapps/wa-sqlite/src/sqlite-api.js';
import { IDBBatchAtomicVFS } from '/node_modules/@journeyapps/wa-sqlite/src/examples/IDBBatchAtomicVFS.js';

const open = (async () => {
  const module = await SQLiteESMFactory();
  const sqlite3 = SQLite.Factory(module);
  sqlite3.vfs_register(await IDBBatchAtomicVFS.create('embedded', module), true);
  const db = await sqlite3.open_v2('notes.db');
  await sqlite3.exec(db, 'CREATE TABLE IF NOT EXISTS notes(text)');
  return { sqlite3, db };
})();

let queue = Promise.resolve();
onmessage = ({ data }) => {
  queue = queue.then(async () => {
    if (data === 'save') return postMessage(await vfscope.save());
    if (data === 'status') return postMessage(vfscope.status());
    const { sqlite3, db } = await open;
    let rows = 0;
    await sqlite3.exec(
      db,
      `INSERT INTO notes VALUES ('${data}'); SELECT count(*) FROM notes`,
      ([n]) => (rows = n),
    );
    postMessage(`${rows} of ${data}`);
  });
};
