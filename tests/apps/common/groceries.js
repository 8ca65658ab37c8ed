// The page of the groceries app, for the apps that bundlers build.
import { listPage } from './list-page.js';

/** @param {Worker} worker with the database */
export function groceries(worker) {
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
}
