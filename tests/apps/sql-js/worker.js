// sql.js as its README loads it: a classic worker, the database in memory, and its file stored in
// IndexedDB when it is closed.
importScripts('../node_modules/sql.js/dist/sql-wasm.js');

let SQL;
let storage;

/** A request as a promise. */
const settled = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

async function openStorage() {
  const request = indexedDB.open('sql-js-files');
  request.onupgradeneeded = () => request.result.createObjectStore('files');
  return settled(request);
}

async function save(name, bytes) {
  const transaction = storage.transaction('files', 'readwrite');
  const complete = new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
  transaction.objectStore('files').put(bytes, name);
  await complete;
}

const engine = {
  async load() {
    SQL = await initSqlJs({ locateFile: (file) => `../node_modules/sql.js/dist/${file}` });
    storage = await openStorage();
    const probe = new SQL.Database();
    const sqliteVersion = probe.exec('SELECT sqlite_version()')[0].values[0][0];
    probe.close();
    return { package: 'sql.js', sqliteVersion, vfs: 'MEMFS', build: 'sync' };
  },

  async open(name) {
    const saved = await settled(storage.transaction('files').objectStore('files').get(name));
    const db = new SQL.Database(saved);
    return {
      exec(sql) {
        // as in the README: exec() if rows are needed, run() otherwise
        if (/^\s*(select|pragma)/i.test(sql)) return db.exec(sql)[0]?.values ?? [];
        db.run(sql);
        return [];
      },
      async close() {
        const bytes = db.export();
        db.close();
        await save(name, bytes);
      },
    };
  },
};

import('../common/engine-worker.js').then(({ serve }) => serve(engine));
