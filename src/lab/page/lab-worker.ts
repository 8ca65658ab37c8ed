/** The Lab's worker: one pass over a workload at a time, on storage of its own. It is ended from outside where a VFS hangs. */
import { serveActor } from '../experiments/worker/actor.ts';
import { ExperimentWorker, environmentHere } from '../experiments/worker.ts';
import { takeDatabase } from './database-file.ts';
import type { FromLabWorker, ToLabWorker } from './messages.ts';
import { ownWasm } from './own-file.ts';
import { explainOnly, explainSql } from './query-plan.ts';
import { TraceSender } from './trace-sender.ts';

/** Actors are workers of this worker: they end with it. */
const worker = new ExperimentWorker(ownWasm, (name) => {
  const { port1, port2 } = new MessageChannel();
  const started = new Worker(location.href, { type: 'module', name: `vfscope lab ${name}` });
  started.postMessage({ k: 'actor' } satisfies ToLabWorker, [port2]);
  return { port: port1, worker: started };
});
let sender: TraceSender | null = null;
const post = (message: FromLabWorker): void => self.postMessage(message);

async function answer(message: ToLabWorker): Promise<void> {
  if (message.k === 'trace' || message.k === 'actor') return;
  try {
    if (message.k === 'explain') {
      const { id, database, sql } = message;
      post({
        k: 'plan',
        id,
        rows:
          typeof sql === 'string'
            ? await explainSql(ownWasm, database, sql)
            : await explainOnly(ownWasm, database, sql),
      });
    } else if (message.k === 'take')
      post({
        k: 'taken',
        id: message.id,
        facts: await takeDatabase(ownWasm, message.main, message.wal),
      });
    else if (message.k === 'look')
      post({ k: 'looked', id: message.id, ...(await worker.look(message.file)) });
    else if (message.k === 'replay') {
      const { id, file, config } = message;
      post({
        k: 'replay',
        id,
        ...(await worker.replay(file, config, (progress) => post({ k: 'progress', id, progress }))),
      });
    } else {
      const { sample, left } = await worker.sample(message.run);
      sender?.finish();
      post({ k: 'sample', id: message.id, sample, environment: environmentHere(), left });
    }
  } catch (error) {
    sender?.finish();
    post({
      k: 'failed',
      id: message.id,
      message: error instanceof Error ? error.message : String(error),
    });
  }
}

self.onmessage = (event: MessageEvent<ToLabWorker>): void => {
  const [port] = event.ports;
  if (event.data.k === 'trace' && port) {
    sender = new TraceSender(port);
    ExperimentWorker.trace(sender.recorder);
  } else if (event.data.k === 'actor' && port) serveActor(port, ownWasm);
  else void answer(event.data);
};
