/**
 * absurd-sql's worker, which talks to IndexedDB for one open file. Afterwards it serves another
 * file.
 */
import './accept-faults.ts';
import './count-requests.ts';
import 'absurd-sql/src/indexeddb/worker.js';
import { READY } from './absurd-sql.ts';
import { LAB } from './storage.ts';

// it would close itself with its file, and the next file would wait for a worker to start while
// SQLite's worker is blocked
self.close = () => {};
// the first use of IndexedDB needs the thread that started this worker, and that thread is blocked
// later
const request = indexedDB.open(`${LAB}-absurd-sql`);
request.onsuccess = () => {
  request.result.close();
  self.postMessage(READY);
};
request.onerror = () => {
  throw request.error ?? new Error('IndexedDB could not be opened');
};
