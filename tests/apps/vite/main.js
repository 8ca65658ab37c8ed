// Groceries as Vite builds them for production, with the worker inlined (a Blob of its text).
import { listPage } from '../common/list-page.js';
import GroceryWorker from './worker.js?worker&inline';

const worker = new GroceryWorker();
const run = (sql, parameters) => worker.postMessage({ sql, parameters });
const { fail, show } = listPage({
  add: (names) =>
    run(
      'INSERT INTO groceries (name) VALUES (?)',
      names.map((name) => [name]),
    ),
  check: (id, done) => run('UPDATE groceries SET done = ? WHERE id = ?', [[+done, id]]),
  clear: () => run('DELETE FROM groceries WHERE done = 1', [[]]),
});
worker.onmessage = ({ data }) => show(data);
worker.onerror = ({ message }) => fail(message);
