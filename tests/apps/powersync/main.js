// Todos on PowerSync with its defaults, not connected to a service: SQLite on IndexedDB in a
// SharedWorker of all tabs. ?vfs= names another VFS, for which each tab has its own worker.
import { column, PowerSyncDatabase, Schema, Table } from '@powersync/web';
import { listPage } from '../common/list-page.js';

const schema = new Schema({
  todos: new Table({ title: column.text, done: column.integer, made: column.text }),
});
const vfs = new URLSearchParams(location.search).get('vfs');
const database = new PowerSyncDatabase({
  schema,
  database: {
    dbFilename: 'todos.db',
    worker: new URL('../node_modules/@powersync/web/dist/worker/worker.js', location.href).href,
    ...(vfs && { vfs }),
  },
});

const { fail, show } = listPage({
  add: (names) =>
    database.writeTransaction(async (transaction) => {
      for (const title of names)
        await transaction.execute(
          'INSERT INTO todos (id, title, done, made) VALUES (uuid(), ?, 0, ?)',
          [title, new Date().toISOString()],
        );
    }),
  check: (id, done) => database.execute('UPDATE todos SET done = ? WHERE id = ?', [+done, id]),
  clear: () => database.execute('DELETE FROM todos WHERE done = 1'),
});
globalThis.closeDatabase = () => database.close();

database.watch('SELECT id, title AS name, done FROM todos ORDER BY made, id', [], {
  onResult: (rows) => show(Array.from(rows, (row) => ({ ...row, done: row.done === 1 }))),
  onError: fail,
});
