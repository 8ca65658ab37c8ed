// The page: starts the worker that runs SQLite. kvvfs needs localStorage, so there SQLite runs in the page itself; ?api=promiser starts the
// package's own worker.
import { pageSession, startPage, workerSession } from '../common/engine-page.js';
import { createSession } from '../common/engine-worker.js';

const query = new URLSearchParams(location.search);

async function connect() {
  if (query.get('api') === 'promiser') {
    const { engine, end } = await import('./promiser.js');
    return pageSession(createSession(engine), end);
  }
  if (query.get('vfs') === 'kvvfs')
    return pageSession(createSession((await import('./engine.js')).engine));
  return workerSession('worker.js', { type: 'module' });
}

await startPage({ connect });
