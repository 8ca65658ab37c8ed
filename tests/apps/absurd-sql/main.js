// The page: starts the worker that runs SQLite, and lets absurd-sql start its IndexedDB worker through this page.
import { initBackend } from 'absurd-sql/dist/indexeddb-main-thread';
import { startPage, workerSession } from '../common/engine-page.js';

await startPage({
  connect: () => workerSession('worker.js?bundle', { type: 'module' }, initBackend),
});
