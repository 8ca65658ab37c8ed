/**
 * Experiments in a browser's worker: where builds, VFSs, and storage come from. The Lab's worker
 * runs it and provides the bytes of the wasm files; this file doesn't handle messages.
 */
import { installEngines } from '../../engines/install.ts';
import { installProbes } from '../../probes/install.ts';
import { readTrace } from '../../trace/file/read.ts';
import type { Recorder } from '../../record/recorder.ts';
import { engineFacts, Engines, type WasmLoader } from './engine/open-engine.ts';
import { recordingFactsOf, type RecordingFacts } from './replay/facts.ts';
import { replay, type Replayed, type ReplayProgress } from './replay/replay.ts';
import type { Found } from './engine/fault-run.ts';
import { sampleOf, storedWhole } from './run.ts';
import type { Config, Counters, EngineFile, Run } from './model/types.ts';
import type { EngineFacts, Environment } from './model/environment-types.ts';
import type { Taken } from './model/result-types.ts';
import { whyNotOn } from './model/vfs-facts.ts';
import { hasJspi } from './worker/builds-here.ts';
import { DroppedEngines } from './worker/dropped-engines.ts';
import { buildHere } from './worker/engines-here.ts';
import { hasFaults } from './model/faults.ts';
import { environmentHere } from './worker/environment-here.ts';
import { explain } from './worker/failure.ts';
import { FaultyStorage } from './worker/faulty-storage.ts';
import { rawIdb } from './worker/raw-idb.ts';
import { runActors, type ActorStarter } from './worker/actors.ts';
import { removeLabStorage } from './worker/storage.ts';
import { absurdSqlVfs } from './worker/absurd-sql.ts';
import { VfsMakers } from './worker/vfs-makers.ts';
import { WebTally } from './worker/web-tally.ts';

/** Some VFSs hold handles as long as their worker lives, so waiting longer doesn't help. */
const PATIENCE_MS = 100;
/** How much of a replay may be lost with its tab. */
const SO_FAR_MS = 500;

/** Asyncify if JSPI was requested and this browser doesn't have it. */
function withBuildOfThisBrowser(run: Run): Run {
  return run.config.build === 'jspi' && !hasJspi()
    ? { ...run, config: { ...run.config, build: 'asyncify' } }
    : run;
}

export class ExperimentWorker {
  private readonly engines: Engines;
  private readonly dropped = new DroppedEngines();
  private readonly makers = new VfsMakers(absurdSqlVfs);
  /** Measured once, before a clock is seeded. */
  private readonly environment: Environment = environmentHere();

  /**
   * @param wasm bytes of a wasm file, by its path in its npm package
   * @param startActor starts a worker for an actor of a workload that has several
   */
  constructor(
    wasm: WasmLoader,
    private readonly startActor: ActorStarter,
  ) {
    this.engines = new Engines(this.dropped.wasm(wasm), this.dropped.buildOf(buildHere));
  }

  /** Records the first sample on all layers (SQL, VFS, and web), as in a page. */
  static trace(recorder: Recorder): void {
    ExperimentWorker.recorder = recorder;
  }
  private static recorder: Recorder | null = null;

  /**
   * A wasm file as an engine, checked and started once.
   * @throws Error with a message for the user where it can't run
   */
  async takeEngine(engine: EngineFile): Promise<EngineFacts> {
    await this.dropped.take(engine);
    const asked = { engine: engine.name, build: 'sync' } as const;
    return engineFacts(await this.engines.open(asked, 'none'), asked.build);
  }

  /**
   * Facts about a recording before a replay.
   * @param file a .vfst file
   * @returns `warnings`: damage in the file
   * @throws Error with a message for the user
   */
  async look(file: Blob): Promise<{ facts: RecordingFacts; warnings: string[] }> {
    const { store, warnings } = await readTrace(file);
    return { facts: recordingFactsOf(store), warnings };
  }

  /**
   * A recording's VFS calls on another configuration, on fresh storage that is removed afterwards.
   * @param file a .vfst file
   * @param interrupted polled: true = stop and report what was replayed so far
   * @param soFar receives what was replayed so far
   * @throws Error with a message for the user
   */
  async replay(
    file: Blob,
    config: Config,
    onProgress: (progress: ReplayProgress) => void,
    interrupted: () => Promise<boolean>,
    soFar: (replayed: Replayed) => void,
  ): Promise<Replayed & { left: string[] }> {
    const { store } = await readTrace(file);
    try {
      const clean = async (): Promise<void> => {
        await this.makers.close();
        await removeLabStorage(PATIENCE_MS);
      };
      await clean();
      const done = await replay(store, config, {
        engines: this.engines,
        environment: this.environment,
        makeVfs: this.makers.make,
        clean,
        probe: (recorder) => {
          const probes = installProbes(recorder);
          return () => void probes.restore();
        },
        onProgress,
        interrupted,
        soFar: { everyMs: SO_FAR_MS, take: soFar },
      });
      await this.makers.close();
      return { ...done, left: await removeLabStorage(PATIENCE_MS) };
    } catch (error) {
      throw new Error(explain(error, this.makers.lastError()), { cause: error });
    }
  }

  /**
   * One pass of a workload on fresh storage that is removed afterwards.
   * @returns also what couldn't be removed while this worker lives
   * @throws Error with a message for the user
   */
  async sample(asked: Run): Promise<Taken> {
    const run = withBuildOfThisBrowser(asked);
    // below everything that counts or records, so that these see what the VFS sees
    const faulty = hasFaults(run.config) ? new FaultyStorage(run.config) : null;
    this.record();
    // only in count mode, because the probes cost time
    const web =
      run.mode === 'count' && run.config.vfs !== 'memory' && !run.config.vfs.startsWith('Memory')
        ? new WebTally()
        : null;
    try {
      const notOn = whyNotOn(run.config.vfs, run.config.engine);
      if (notOn) throw new Error(`${notOn}.`);
      if (run.engineFile) await this.dropped.take(run.engineFile);
      const sample = await sampleOf(run, {
        engines: this.engines,
        makeVfs: async (config, module, name) => {
          const made = await this.makers.make(config, module, name);
          return made && web
            ? { ...made, counters: (): Counters => ({ ...made.counters?.(), ...web.read() }) }
            : made;
        },
        rawStep: rawIdb,
        runActors: (actors, after) =>
          runActors(actors, run, this.startActor, after, faulty?.shared ?? null),
        faults: () => ({
          tally: () => faulty!.state.tally(),
          lift: () => faulty!.lift(),
          close: () => this.makers.close().finally(() => faulty!.closeHandles()),
          lastError: () => this.makers.lastError(),
        }),
        environment: this.environment,
        clean: async () => void (await removeLabStorage(PATIENCE_MS)),
      });
      await this.makers.close();
      return {
        sample,
        environment: this.environment,
        // another worker will check it
        left: sample.fault?.whole === null ? [] : await removeLabStorage(PATIENCE_MS),
      };
    } catch (error) {
      const words = explain(error, this.makers.lastError());
      try {
        await this.makers.close();
        await removeLabStorage(PATIENCE_MS);
      } catch (closing) {
        throw new Error(
          `${words} Closing the VFS failed as well: ${closing instanceof Error ? closing.message : String(closing)}`,
          {
            cause: error,
          },
        );
      }
      throw new Error(words, { cause: error });
    } finally {
      web?.restore();
      faulty?.restore();
    }
  }

  /** Whether a run with faults left an undamaged database in storage. */
  async storedWhole(asked: Run): Promise<Found> {
    const run = withBuildOfThisBrowser(asked);
    if (run.engineFile) await this.dropped.take(run.engineFile);
    const found = await storedWhole(run, {
      engines: this.engines,
      makeVfs: this.makers.make,
      environment: this.environment,
    });
    await this.makers.close();
    return found;
  }

  private record(): void {
    const recorder = ExperimentWorker.recorder;
    ExperimentWorker.recorder = null;
    if (!recorder) return;
    installProbes(recorder);
    installEngines(recorder);
  }
}
