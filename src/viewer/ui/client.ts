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
  const workers = [worker];
  const { api, fail } = remote<SessionApi<Queries>>(worker, (message) => {
    const push = message as SessionPush | WorkerPush;
    if (push.k === 'worker') workers.push(startHelper(workerUrl, push));
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

function startHelper(url: string, { name, port, control }: WorkerPush): Worker {
  const worker = new Worker(url, { type: 'module', name });
  worker.postMessage({ port }, [port]);
  worker.addEventListener('error', ({ message }) =>
    control.postMessage(message || 'its script could not be loaded'),
  );
  control.onmessage = () => worker.terminate();
  return worker;
}
