/**
 * The page's end of the Lab's worker: one sample after the other, each answered or canceled. A
 * worker without progress for too long is terminated (a VFS hangs), and the next sample gets a new
 * one, as after a cancel.
 */
import { startWorker, type Started } from '../../protocol/workers.ts';
import { removeLabStorage } from '../experiments/worker/storage.ts';
import type { RecordingFacts } from '../experiments/replay/facts.ts';
import type { Replayed, ReplayProgress } from '../experiments/replay/replay.ts';
import type { EngineFacts } from '../experiments/model/environment-types.ts';
import type { FaultReport } from '../experiments/model/faults.ts';
import type { Config, EngineFile, Run } from '../experiments/model/types.ts';
import type { Taken } from '../experiments/model/result-types.ts';
import type { DatabaseFacts } from './database-file.ts';
import type { Advice, AdviceProgress } from '../advisor/advice.ts';
import type { AsRecorded } from '../as-recorded/as-recorded.ts';
import type { CrashConfig, CrashOptions, CrashResult } from '../crash/model.ts';
import type { KeeperWorker } from './keeper-worker.ts';
import type { AdvicePush, LabWorker, RecordedAsked, ReplayPush } from './lab-worker.ts';
import type { PlanRow } from '../experiments/engine/plan.ts';

/** The run was canceled: not an error. */
export class Canceled extends Error {
  override readonly name = 'Canceled';
}

interface BenchOptions {
  workerUrl: string;
  keeperUrl: string;
  /** Timeout of one sample, or of a replay without progress, ms. */
  patienceMs: number;
}
const failureOf =
  (what: string) =>
  (reason: string): Error =>
    new Error(`${what} failed: ${reason}`);
type OnProgress = (progress: unknown) => void;

export class Bench {
  private worker: Started<LabWorker> | null = null;
  private busy = false;
  private onProgress: OnProgress = () => {};

  constructor(private readonly options: BenchOptions) {}

  /** @throws Error with a message for the user; Canceled */
  async sample(run: Run): Promise<Taken> {
    const taken = await this.ask((worker) => worker.sample(run));
    const { fault } = taken.sample;
    if (fault?.whole === null) return this.looked(run, taken, fault);
    if (taken.left.length === 0) return taken;
    this.end(); // a VFS without close holds its handles as long as its worker lives
    return { ...taken, left: await removeLabStorage() };
  }

  /**
   * The VFS of a run with faults may hold its locks as long as its worker lives, so a new worker
   * checks what is stored.
   */
  private async looked(run: Run, taken: Taken, fault: FaultReport): Promise<Taken> {
    this.end();
    const found = await this.ask((worker) => worker.storedWhole(run));
    this.end();
    return {
      ...taken,
      sample: { ...taken.sample, fault: { ...fault, ...found } },
      left: await removeLabStorage(),
    };
  }

  /** One pass in a separate worker with every layer recorded. @returns the trace as a .vfst file */
  async traced(run: Run): Promise<Blob> {
    this.end();
    const keeper = startWorker<KeeperWorker>(
      this.options.keeperUrl,
      'vfscope lab keeper',
      failureOf('The keeper of the trace'),
    );
    try {
      const { port1, port2 } = new MessageChannel();
      const kept = keeper.api.keep(port2);
      const traced = this.start().api.trace(port1);
      // its trace shows only this run
      const sampled = this.sample({ ...run, mode: 'time', repeats: 1, readBack: false });
      // a failed run has a trace, too: the one that shows why
      const [file] = await Promise.all([
        kept,
        traced,
        sampled.catch((error: unknown) =>
          error instanceof Canceled ? Promise.reject(error) : null,
        ),
      ]);
      return file;
    } finally {
      keeper.end(new Canceled('canceled'));
      this.end(); // its APIs are patched
      await removeLabStorage();
    }
  }

  /**
   * Facts about a recording before a replay.
   * @throws Error with a message for the user where it isn't a trace, or has nothing to replay;
   * Canceled
   */
  look(file: Blob): Promise<{ facts: RecordingFacts; warnings: string[] }> {
    return this.ask((worker) => worker.look(file));
  }

  /**
   * A recording's VFS calls on another configuration.
   * @param onSoFar receives what was replayed so far, repeatedly
   * @throws Error with a message for the user; Canceled
   */
  async replay(
    file: Blob,
    config: Config,
    onProgress: (progress: ReplayProgress) => void = () => {},
    onSoFar: (replayed: Replayed) => void = () => {},
  ): Promise<Replayed & { left: string[] }> {
    try {
      const done = await this.ask(
        (worker) => worker.replay(file, config),
        (pushed) => {
          const known = pushed as ReplayPush;
          if ('soFar' in known) onSoFar(known.soFar);
          else onProgress(known);
        },
      );
      this.end(); // VFSs hold some things as long as their worker lives
      return { ...done, left: done.left.length ? await removeLabStorage() : [] };
    } finally {
      this.end();
    }
  }

  /** `replay` and `advise` answer with what they have so far. */
  async stop(): Promise<void> {
    await this.worker?.api.stop();
  }

  /**
   * Which indexes help a recording's statements.
   * @param onSoFar receives the answer so far, repeatedly
   * @throws Error with a message for the user; Canceled
   */
  advise(
    database: Blob,
    recording: Blob,
    onProgress: (progress: AdviceProgress) => void,
    onSoFar: (soFar: Advice) => void,
  ): Promise<Advice> {
    return this.ask(
      (worker) => worker.advise(database, recording),
      (pushed) => {
        const known = pushed as AdvicePush;
        if ('soFar' in known) onSoFar(known.soFar);
        else onProgress(known);
      },
    );
  }

  /**
   * A recording's own statements, as recorded and with a finding's advice.
   * @throws Error with a message for the user; Canceled
   */
  asRecorded(recording: Blob, asked: RecordedAsked): Promise<AsRecorded> {
    return this.ask((worker) => worker.asRecorded(recording, asked));
  }

  /**
   * A crash test of one configuration.
   * @param onCrash receives the number of crashes so far, repeatedly
   * @throws Error with a message for the user; Canceled
   */
  crash(
    config: CrashConfig,
    options: CrashOptions,
    onCrash: (crashes: number) => void,
  ): Promise<CrashResult> {
    return this.ask(
      (worker) => worker.crash(config, options),
      (crashes) => onCrash(crashes as number),
    );
  }

  /**
   * Plans of a script, which runs, or of a recording's statements, which don't.
   * @throws SQLite's errors about the script; Error with a message for the user
   */
  plan(database: Blob | null, sql: string | Blob): Promise<PlanRow[]> {
    return this.ask((worker) => worker.plan(database, sql));
  }

  /** A database file, checked, with its WAL merged. @throws Error with a message for the user */
  take(main: Blob, wal: Blob | null): Promise<DatabaseFacts> {
    return this.ask((worker) => worker.take(main, wal));
  }

  /**
   * A wasm file as an engine: started once, in a worker that is terminated if it fails.
   * @throws Error with a message for the user
   */
  async takeEngine(engine: EngineFile): Promise<EngineFacts> {
    try {
      return await this.ask((worker) => worker.takeEngine(engine));
    } catch (e) {
      this.end();
      throw e;
    }
  }

  /** Cancels the current work at once. @returns what remains in storage */
  async cancel(): Promise<string[]> {
    this.end();
    return removeLabStorage();
  }

  private async ask<T>(
    request: (worker: Started<LabWorker>['api']) => Promise<T>,
    onProgress: OnProgress = () => {},
  ): Promise<T> {
    if (this.busy) throw new Error('The Lab is busy with another run.');
    const { patienceMs } = this.options;
    const seconds = Math.round(patienceMs / 1000);
    const hangs = new Error(
      `It did not finish within ${seconds} s and was ended: the VFS hangs, or the workload is too large for it.`,
    );
    const patience = (): ReturnType<typeof setTimeout> =>
      setTimeout(() => this.end(hangs), patienceMs);
    let late = patience();
    this.onProgress = (progress) => {
      clearTimeout(late); // progress means that it doesn't hang
      late = patience();
      onProgress(progress);
    };
    this.busy = true;
    try {
      return await request(this.start().api);
    } finally {
      clearTimeout(late);
      this.busy = false;
    }
  }

  private start(): Started<LabWorker> {
    if (!this.worker || this.worker.dead)
      this.worker = startWorker(
        this.options.workerUrl,
        'vfscope lab',
        failureOf("The Lab's worker"),
        (progress) => this.onProgress(progress),
      );
    return this.worker;
  }

  /** @param error for open requests */
  private end(error: Error = new Canceled('canceled')): void {
    this.worker?.end(error);
    this.worker = null;
  }
}
