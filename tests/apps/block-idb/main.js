// The page: starts the worker that runs SQLite.
import { startPage, workerSession } from '../common/engine-page.js';

await startPage({ connect: () => workerSession('worker.js?bundle', { type: 'module' }) });
