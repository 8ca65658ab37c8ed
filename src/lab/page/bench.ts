/**
 * The page's end of the Lab's worker: one sample after the other, each answered or given up. A worker that says nothing for too long
 * is ended (a VFS hangs), and the next sample gets a new one; so does the sample after a cancel.
 */
import { removeLabStorage } from '../experiments/worker/storage.ts';
import type { RecordingFacts } from '../experiments/replay/facts.ts';
import type { ReplayProgress, ReplayReport } from '../experiments/replay/replay.ts';
import type { Config, Run, RunResult, Sample } from '../experiments/types.ts';
import type { DatabaseFacts } from './database-file.ts';
import type { FromKeeper, FromLabWorker, PlanRow, ToKeeper, ToLabWorker } from './messages.ts';

export interface Taken {
  sample: Sample;
  environment: RunResult['environment'];
  /** What could not be removed from storage, with the reason. */
  left: string[];
}
/** The run was cancelled: nothing is wrong. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
}

export interface BenchOptions {
  workerUrl: string;
  keeperUrl: string;
  /** Longest time that one sample may take, or that a replay may get no further, ms. */
  patienceMs: number;
}
type Answer = Exclude<FromLabWorker, { k: 'failed' | 'progress' }>;
type OnProgress = (progress: ReplayProgress) => void;
interface Waiting {
  id: number;
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
  onProgress: OnProgress;
}

export class Bench {
  private worker: Worker | null = null;
  private waiting: Waiting | null = null;
  private lastId = 0;

  constructor(private readonly options: BenchOptions) {}

  /** @throws Error in words; Cancelled */
  async sample(run: Run): Promise<Taken> {
    const answer = await this.ask((id) => ({ k: 'sample', id, run }));
    if (answer.k !== 'sample') throw new Error('the worker answered something else');
    if (answer.left.length === 0) return answer;
    this.end(); // a VFS without a close of its own holds its handles for as long as its worker lives
    return { ...answer, left: await removeLabStorage() };
  }

  /** One pass in a worker of its own with every layer recorded. @returns the trace as a .vfst file */
  async traced(run: Run): Promise<Blob> {
    this.end();
    const keeper = new Worker(this.options.keeperUrl, {
      type: 'module',
      name: 'vfscope lab keeper',
    });
    try {
      const { port1, port2 } = new MessageChannel();
      const kept = new Promise<Blob>((resolve, reject) => {
        keeper.onmessage = ({ data }: MessageEvent<FromKeeper>) =>
          data.k === 'kept' ? resolve(data.file) : reject(new Error(data.message));
        keeper.onerror = (event) =>
          reject(new Error(`The keeper of the trace failed: ${event.message}`));
      });
      keeper.postMessage({ k: 'keep' } satisfies ToKeeper, [port2]);
      this.start().postMessage({ k: 'trace' } satisfies ToLabWorker, [port1]);
      const sampled = this.sample({ ...run, mode: 'time', repeats: 1, readBack: false }); // its trace is to show the run alone
      // a failed run has a trace, too: the one that shows why
      const [file] = await Promise.all([
        kept,
        sampled.catch((error: unknown) =>
          error instanceof Cancelled ? Promise.reject(error) : null,
        ),
      ]);
      return file;
    } finally {
      keeper.terminate();
      this.end(); // its APIs are patched
      await removeLabStorage();
    }
  }

  /** What a recording offers to a replay. @throws Error in words where it is no trace, or has nothing to replay; Cancelled */
  async look(file: Blob): Promise<{ facts: RecordingFacts; warnings: string[] }> {
    const answer = await this.ask((id) => ({ k: 'look', id, file }));
    if (answer.k !== 'looked') throw new Error('the worker answered something else');
    return answer;
  }

  /** A recording's VFS calls on another configuration. @throws Error in words; Cancelled */
  async replay(
    file: Blob,
    config: Config,
    onProgress: OnProgress = () => {},
  ): Promise<{ report: ReplayReport; trace: Blob; left: string[] }> {
    try {
      const answer = await this.ask((id) => ({ k: 'replay', id, file, config }), onProgress);
      if (answer.k !== 'replay') throw new Error('the worker answered something else');
      this.end(); // what VFSs hold for as long as their worker lives
      return { ...answer, left: answer.left.length ? await removeLabStorage() : [] };
    } finally {
      this.end();
    }
  }

  /** Plans of a script, which runs, or of single statements, which do not. @throws what SQLite says of the script */
  async plan(database: Blob | null, sql: string | readonly string[]): Promise<PlanRow[]> {
    const answer = await this.ask((id) => ({ k: 'explain', id, database, sql }));
    return answer.k === 'plan' ? answer.rows : [];
  }

  /** A database file, checked, its log brought in. @throws Error in words */
  async take(main: Blob, wal: Blob | null): Promise<DatabaseFacts> {
    const answer = await this.ask((id) => ({ k: 'take', id, main, wal }));
    if (answer.k !== 'taken') throw new Error('the worker answered something else');
    return answer.facts;
  }

  /** Give up what runs, at once. @returns what stays in storage */
  async cancel(): Promise<string[]> {
    this.giveUp(new Cancelled('cancelled'));
    return removeLabStorage();
  }

  private async ask(
    make: (id: number) => ToLabWorker,
    onProgress: OnProgress = () => {},
  ): Promise<Answer> {
    if (this.waiting) throw new Error('The Lab is busy with another run.');
    const worker = this.start();
    const id = ++this.lastId;
    const { patienceMs } = this.options;
    const seconds = Math.round(patienceMs / 1000);
    const hangs = new Error(
      `It did not finish within ${seconds} s and was ended: the VFS hangs, or the workload is too large for it.`,
    );
    let late = setTimeout(() => this.giveUp(hangs), patienceMs);
    try {
      return await new Promise<Answer>((resolve, reject) => {
        const further: OnProgress = (progress) => {
          clearTimeout(late); // what gets further does not hang
          late = setTimeout(() => this.giveUp(hangs), patienceMs);
          onProgress(progress);
        };
        this.waiting = { id, resolve, reject, onProgress: further };
        worker.postMessage(make(id));
      });
    } finally {
      clearTimeout(late);
      this.waiting = null;
    }
  }

  private start(): Worker {
    if (this.worker) return this.worker;
    const worker = new Worker(this.options.workerUrl, { type: 'module', name: 'vfscope lab' });
    worker.onmessage = ({ data }: MessageEvent<FromLabWorker>) => {
      const { waiting } = this;
      if (!waiting || data.id !== waiting.id) return;
      if (data.k === 'failed') waiting.reject(new Error(data.message));
      else if (data.k === 'progress') waiting.onProgress(data.progress);
      else waiting.resolve(data);
    };
    worker.onerror = (event) =>
      this.giveUp(
        new Error(`The Lab's worker failed: ${event.message || 'its script could not be loaded'}`),
      );
    return (this.worker = worker);
  }

  private giveUp(error: Error): void {
    this.end();
    this.waiting?.reject(error);
  }
  private end(): void {
    this.worker?.terminate();
    this.worker = null;
  }
}
