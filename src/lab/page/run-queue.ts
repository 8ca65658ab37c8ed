/**
 * Interleaves the repeats of all runs, so that a slow minute affects all of them equally. A failing
 * run doesn't stop the others. A canceled queue continues where it stopped.
 */
import { leaveOut } from '../experiments/leave-out.ts';
import type { Environment } from '../experiments/model/environment-types.ts';
import { passesOf, passOf, resultOfPasses, resultSoFar } from '../experiments/passes.ts';
import type { Run } from '../experiments/model/types.ts';
import type { LeftOut, RunResult, Sample } from '../experiments/model/result-types.ts';
import { Canceled, type Bench } from './bench.ts';

export type RunState = 'waiting' | 'running' | 'done' | 'failed';
export interface QueuedRun {
  readonly run: Run;
  state: RunState;
  /** Finished passes, in order, without the first of a timed run. */
  samples: Sample[];
  result: RunResult | null;
  /** Why it failed. */
  message: string;
  /** What it left in storage. */
  left: string[];
}

/** Passes that another queue has made for the same runs. */
export interface Before {
  readonly environment: Environment;
  readonly runs: readonly { readonly samples: readonly Sample[]; readonly message: string }[];
}

export class RunQueue {
  readonly items: QueuedRun[];
  running = false;
  private stopping = false;
  /** Result of the passes so far. */
  environment: Environment | null;
  /** What a cancel leaves in storage. */
  private cleaned: Promise<string[]> | null = null;

  constructor(
    private readonly bench: Bench,
    runs: readonly Run[],
    private readonly onChange: () => void,
    before?: Before,
  ) {
    this.environment = before?.environment ?? null;
    this.items = runs.map((run, i) => {
      const { samples, message } = before?.runs[i] ?? { samples: [], message: '' };
      const done = samples.length === passesOf(run);
      return {
        run,
        state: message ? 'failed' : done ? 'done' : 'waiting',
        samples: [...samples],
        result: before && !message ? resultSoFar(run, samples, before.environment) : null,
        message,
        left: [],
      };
    });
  }

  /** Passes done, and total passes; a failed run has no more of them. */
  get progress(): { done: number; all: number } {
    const passes = (item: QueuedRun): number =>
      item.state === 'failed' ? item.samples.length : passesOf(item.run);
    return {
      done: this.items.reduce((n, item) => n + item.samples.length, 0),
      all: this.items.reduce((n, item) => n + passes(item), 0),
    };
  }
  /** A cancel left some passes undone. */
  get canResume(): boolean {
    return !this.running && this.items.some((item) => item.state === 'waiting');
  }

  /** Run the remaining passes. Resolves when all are done or the queue was canceled. */
  async go(): Promise<void> {
    this.running = true;
    this.stopping = false;
    this.onChange();
    for (let item = this.next(); item && !this.stopping; item = this.next()) {
      item.state = 'running';
      this.onChange();
      await this.pass(item);
      this.onChange();
    }
    for (const item of this.items)
      if (item.state === 'waiting' && this.environment)
        item.result = resultSoFar(item.run, item.samples, this.environment);
    // a resumed queue doesn't find the storage of the interrupted pass
    const left = (await this.cleaned) ?? [];
    this.cleaned = null;
    const [first] = this.items;
    if (left.length && first) first.left.push(...left);
    this.running = false;
    this.onChange();
  }

  /** Stop at once. The current pass is lost, and its storage is removed. */
  async cancel(): Promise<void> {
    this.stopping = true;
    this.cleaned = this.bench.cancel();
    await this.cleaned;
  }

  /**
   * Leaves out a pass of a finished run, or puts it back.
   * @throws Error with a message for the user where it can't
   */
  leaveOut(index: number, leftOut: readonly LeftOut[]): void {
    const item = this.items[index];
    if (!item?.result) return;
    item.result = leaveOut(item.result, leftOut);
    this.onChange();
  }

  /** The run with the fewest passes, so that repeats alternate. */
  private next(): QueuedRun | undefined {
    const open = this.items.filter((item) => item.state === 'waiting');
    return open.sort((a, b) => a.samples.length - b.samples.length)[0];
  }

  private async pass(item: QueuedRun): Promise<void> {
    const { run } = item;
    try {
      const { sample, environment, left } = await this.bench.sample(
        passOf(run, item.samples.length),
      );
      item.samples.push(sample);
      this.environment = environment;
      item.left = left;
      item.state = item.samples.length < passesOf(run) ? 'waiting' : 'done';
      if (item.state === 'done') item.result = resultOfPasses(run, item.samples, environment);
    } catch (error) {
      if (error instanceof Canceled) {
        item.state = 'waiting';
        return;
      }
      item.state = 'failed';
      item.message = error instanceof Error ? error.message : String(error);
      item.left = await this.bench.cancel(); // a hung worker is gone, but its handles are not
    }
  }
}
