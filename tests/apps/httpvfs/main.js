// Opens a database on the server, runs three queries, and reports the library's counts of its own
// requests.
const packages = '../node_modules/sql.js-httpvfs/dist';
const url = (path) => new URL(path, import.meta.url).href;
try {
  const { db, worker } = await window.createDbWorker(
    [
      {
        from: 'inline',
        config: {
          serverMode: 'full',
          requestChunkSize: 1024,
          url: url('places.sqlite?token=hidden'),
        },
      },
    ],
    url(`${packages}/sqlite.worker.js`),
    url(`${packages}/sql-wasm.wasm`),
  );
  const rows = await db.query('SELECT name, people FROM place ORDER BY people DESC LIMIT 5');
  await db.query('SELECT sum(length(note)) FROM place');
  await db.query("SELECT name FROM place WHERE id = 77 AND name <> 'nowhere'");
  for (const { name, people } of rows) {
    const item = document.createElement('li');
    item.textContent = `${name}: ${people}`;
    document.querySelector('#list').append(item);
  }
  const { totalFetchedBytes, totalRequests } = await worker.getStats();
  window.counted = { bytes: totalFetchedBytes, requests: totalRequests, first: rows[0].name };
  document.body.dataset.state = 'ready';
} catch (error) {
  document.querySelector('#error').textContent = String(error);
  document.querySelector('#error').hidden = false;
  document.body.dataset.state = 'failed';
}
