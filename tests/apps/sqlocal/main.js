// The groceries app on SQLocal: each tab has its own worker and connection, and is notified of
// other tabs' changes. The SQL is from the README.
import { SQLocal } from 'sqlocal';
import { listPage } from '../common/list-page.js';

const { sql, batch, reactiveQuery } = new SQLocal({
  databasePath: 'groceries.sqlite3',
  reactive: true,
  onInit: (sql) => [
    sql`CREATE TABLE IF NOT EXISTS groceries (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0)`,
  ],
});

const { fail, show } = listPage({
  add: (names) =>
    batch((sql) => names.map((name) => sql`INSERT INTO groceries (name) VALUES (${name})`)),
  check: (id, done) => sql`UPDATE groceries SET done = ${done ? 1 : 0} WHERE id = ${id}`,
  clear: () => sql`DELETE FROM groceries WHERE done = 1`,
});

reactiveQuery((sql) => sql`SELECT id, name, done FROM groceries ORDER BY id`).subscribe(
  (rows) => show(rows.map(({ id, name, done }) => ({ id, name, done: done === 1 }))),
  fail,
);
