/** The drawing side's end of the store worker. */
import { remote } from '../../protocol/rpc.ts';
import type { SessionApi, SessionPush, WorkerPush } from '../../protocol/session.ts';
import type { Queries } from '../session/query-table.ts';

interface SessionClient {
  session: SessionApi<Queries>;
  terminate(): void;
}

/**
 * Start the store's worker.
 * @param workerUrl a module script @param onDeath the worker failed for good: every open request is rejected
 */
export function startSession(
  workerUrl: string,
  onPush: (message: SessionPush) => void,
  onDeath: (message: string) => void,
): SessionClient {
  const worker = new Worker(workerUrl, { type: 'module', name: 'vfscope store' });
  const workers = new Set([worker]);
  const { api, fail } = remote<SessionApi<Queries>>(worker, (message) => {
    const push = message as SessionPush | WorkerPush;
    if (push.k === 'worker') startHelper(workerUrl, push, workers);
    else onPush(push);
  });
  worker.addEventListener('error', (event) => {
    const message = `The trace store stopped working: ${event.message || 'its script could not be loaded'}. Reopen the panel.`;
    fail(new Error(message));
    onDeath(message);
  });
  return {
    session: api as SessionApi<Queries>,
    terminate: () => workers.forEach((each) => each.terminate()),
  };
}

/** @param alive takes it in while it runs */
function startHelper(url: string, { name, port, control }: WorkerPush, alive: Set<Worker>): void {
  const worker = new Worker(url, { type: 'module', name });
  alive.add(worker);
  worker.postMessage({ port }, [port]);
  worker.addEventListener('error', ({ message }) =>
    control.postMessage(message || 'its script could not be loaded'),
  );
  control.onmessage = () => {
    worker.terminate();
    alive.delete(worker);
    control.close();
  };
}
