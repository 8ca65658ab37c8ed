/**
 * The Lab's worker: one pass of a workload at a time, on separate storage. The page terminates it
 * if a VFS hangs.
 */
import { ActorHere } from '../experiments/worker/actor.ts';
import type { ActorStarter } from '../experiments/worker/actors.ts';
import { Facts } from '../../analysis/core/graph.ts';
import { readTrace } from '../../trace/file/read.ts';
import type { Advice, AdviceProgress } from '../advisor/advice.ts';
import { advise } from '../advisor/advise.ts';
import { recordedOf } from '../advisor/recorded.ts';
import { asRecorded, type AsRecorded, type Asked } from '../as-recorded/as-recorded.ts';
import { configOf, crashTest } from '../crash/crash-test.ts';
import type { CrashConfig, CrashOptions, CrashResult } from '../crash/model.ts';
import { waSqliteOpener } from '../crash/open.ts';
import { nextTask } from '../crash/storage/next-task.ts';
import { experimentFor } from '../experiments/documents/tries.ts';
import { Engines } from '../experiments/engine/open-engine.ts';
import { environmentHere } from '../experiments/worker/environment-here.ts';
import { ExperimentWorker } from '../experiments/worker.ts';
import type { Replayed, ReplayProgress } from '../experiments/replay/replay.ts';
import type { EngineFacts } from '../experiments/model/environment-types.ts';
import type { Config, EngineFile, Run } from '../experiments/model/types.ts';
import { remote, serve, type Channel } from '../../protocol/rpc.ts';
import { channelOfHelper, startHelper } from '../../protocol/workers.ts';
import { takeDatabase, type DatabaseFacts } from './database-file.ts';
import { ownWasm } from './own-file.ts';
import type { PlanRow } from '../experiments/engine/plan.ts';
import { explainOnly, explainSql, statementsOf } from './query-plan.ts';
import { TraceSender } from './trace-sender.ts';

/** Prefix of the names of workers that are actors of a workload. */
const ACTOR = 'vfscope lab actor ';

/** Actors end with this worker at the latest. */
function startActor(name: string): ReturnType<ActorStarter> {
  const helper = startHelper(ACTOR + name);
  const { api, fail } = remote<ActorHere>(helper, () => {});
  helper.onFailed = (reason) => fail(new Error(`its worker failed: ${reason}`));
  return { actor: api, end: () => helper.terminate() };
}
/** `experiment`: its id. */
export type RecordedAsked = Omit<Asked, 'experiment'> & { readonly experiment: string };

/** A replay's push messages. */
export type ReplayPush = ReplayProgress | { readonly soFar: Replayed };
/** The advisor's push messages. */
export type AdvicePush = AdviceProgress | { readonly soFar: Advice };

const worker = new ExperimentWorker(ownWasm, startActor);
let sender: TraceSender | null = null;
/** Stop the current work and answer with what it has. */
let stopped = false;
const isStopped = async (): Promise<boolean> => {
  await new Promise<void>(nextTask); // so that `stop` arrives
  return stopped;
};
/** For crash tests: compiled once for all configurations. */
const crashEngines = new Engines(ownWasm);
/** Milliseconds between two reports of the number of crashes. */
const CRASHES_A_REPORT = 20;

const methods = {
  /** Called first, if a trace is wanted: the port carries it, like a hook's port. */
  trace(port: MessagePort): Promise<void> {
    sender = new TraceSender(port);
    ExperimentWorker.trace(sender.recorder);
    return Promise.resolve();
  },
  sample: (run: Run) => worker.sample(run).finally(() => sender?.finish()),
  storedWhole: (run: Run) => worker.storedWhole(run),
  look: (file: Blob) => worker.look(file),
  /** Pushes its progress, and what was replayed so far. */
  replay: (file: Blob, config: Config): Promise<Replayed & { left: string[] }> =>
    worker.replay(
      file,
      config,
      (progress) => push(progress satisfies ReplayPush),
      isStopped,
      (soFar) => push({ soFar } satisfies ReplayPush),
    ),
  /** What was done so far is the answer of `replay` or `advise`. */
  stop(): Promise<void> {
    stopped = true;
    return Promise.resolve();
  },
  /** Plans of a script, which runs, or of a recording's statements, which don't. */
  plan: async (database: Blob | null, sql: string | Blob): Promise<PlanRow[]> =>
    typeof sql === 'string'
      ? explainSql(ownWasm, database, sql)
      : explainOnly(ownWasm, database, await statementsOf(sql)),
  /** Pushes its progress, and the answer so far. */
  advise: async (database: Blob, recording: Blob): Promise<Advice> => {
    const { store } = await readTrace(recording);
    const place = { engines: new Engines(ownWasm), environment: environmentHere() };
    stopped = false;
    return advise(place, database, recordedOf(new Facts(store)), {
      onProgress: (progress) => push(progress satisfies AdvicePush),
      onSoFar: (soFar) => push({ soFar } satisfies AdvicePush),
      stop: isStopped,
    });
  },
  asRecorded: async (recording: Blob, asked: RecordedAsked): Promise<AsRecorded> => {
    const { store } = await readTrace(recording);
    return asRecorded(new Engines(ownWasm), new Facts(store), {
      ...asked,
      experiment: experimentFor(asked.experiment)!,
    });
  },
  /** One configuration, on storage emulated in this worker. Pushes the number of crashes. */
  crash: (config: CrashConfig, options: CrashOptions): Promise<CrashResult> =>
    crashTest(config, waSqliteOpener(crashEngines, configOf(config)), options, {
      environment: environmentHere(),
      onCrash: (crashes) => {
        if (crashes % CRASHES_A_REPORT === 0) push(crashes);
      },
    }),
  takeEngine: (engine: EngineFile): Promise<EngineFacts> => worker.takeEngine(engine),
  take: (main: Blob, wal: Blob | null): Promise<DatabaseFacts> => takeDatabase(ownWasm, main, wal),
};
export type LabWorker = typeof methods;
let push: (message: unknown) => void = () => {};
if (self.name.startsWith(ACTOR))
  void channelOfHelper().then((channel) => serve(channel, new ActorHere(ownWasm)));
else push = serve(self as unknown as Channel, methods);
