/** The Lab's worker: one pass over a workload at a time, on storage of its own. It is ended from outside where a VFS hangs. */
import { ActorHere } from '../experiments/worker/actor.ts';
import { ExperimentWorker } from '../experiments/worker.ts';
import type { ReplayProgress, ReplayReport } from '../experiments/replay/replay.ts';
import type { Config, Run } from '../experiments/model/types.ts';
import { serve, type Channel } from '../../protocol/rpc.ts';
import { takeDatabase, type DatabaseFacts } from './database-file.ts';
import { ownWasm } from './own-file.ts';
import { explainOnly, explainSql, type PlanRow } from './query-plan.ts';
import { startWorker } from './start-worker.ts';
import { TraceSender } from './trace-sender.ts';

/** Actors are workers of this worker: they end with it. */
const worker = new ExperimentWorker(ownWasm, (name) => {
  const actor = startWorker<ActorHere>(location.href, `vfscope lab ${name}`, 'its worker');
  return { actor: actor.api, end: () => actor.end(new Error('ended')) };
});
const actor = new ActorHere(ownWasm);
let sender: TraceSender | null = null;

const methods = {
  /** Before anything else, where a trace is wanted: the port takes it, as a hook's port does. */
  trace(port: MessagePort): Promise<void> {
    sender = new TraceSender(port);
    ExperimentWorker.trace(sender.recorder);
    return Promise.resolve();
  },
  /** For another Lab's worker: one actor of its workload. */
  prepare: actor.prepare.bind(actor),
  go: actor.go.bind(actor),

  sample: (run: Run) => worker.sample(run).finally(() => sender?.finish()),
  look: (file: Blob) => worker.look(file),
  /** Pushes its progress. */
  replay: (
    file: Blob,
    config: Config,
  ): Promise<{ report: ReplayReport; trace: Blob; left: string[] }> =>
    worker.replay(file, config, (progress: ReplayProgress) => push(progress)),
  /** Plans of a script, which runs, or of single statements, which do not. */
  plan: (database: Blob | null, sql: string | readonly string[]): Promise<PlanRow[]> =>
    typeof sql === 'string'
      ? explainSql(ownWasm, database, sql)
      : explainOnly(ownWasm, database, sql),
  take: (main: Blob, wal: Blob | null): Promise<DatabaseFacts> => takeDatabase(ownWasm, main, wal),
};
export type LabWorker = typeof methods;
const push = serve(self as unknown as Channel, methods);
