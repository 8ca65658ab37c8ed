/**
 * The Lab's page in a browser that we drive: calls to its `vfscopeLab` object, the same in Chromium
 * and Firefox.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ReplayReport } from '../experiments/replay/replay.ts';
import type { LabDoor, LabRun, PassesDone } from '../experiments/door.ts';
import type { Config, Run } from '../experiments/model/types.ts';
import { resultSoFar } from '../experiments/passes.ts';
import { browserFailed, CommandFailure } from '../../terminal/failure.ts';

const POLL_MS = 100;
/** Chunk size of a database on its way to the page, bytes: one driver message can't hold it all. */
const PIECE_BYTES = 1 << 20;

/** Options of a run. */
export interface RunOptions {
  /** Timeout of one pass, ms. */
  patienceMs?: number | undefined;
  /** Passes done, and total passes. */
  onProgress?: (done: number, all: number) => void;
  /** Once it resolves, the finished passes are the result. */
  interrupt?: Promise<void>;
  /**
   * The tab closed, crashed, or loads another page: the finished passes are the result. Without
   * this callback, it is a failure.
   */
  onClosed?: () => void;
}
export interface LabOptions extends RunOptions {
  /** Folder of the built extension. */
  extension: string;
  headed?: boolean;
}

export interface ReplayedInPage {
  readonly report: ReplayReport;
  /** Bytes of a .vfst file. */
  readonly trace: Uint8Array<ArrayBuffer>;
  /** What it left in storage. */
  readonly left: readonly string[];
}

export class LabPage {
  /**
   * @param inPage runs the body of an asynchronous function in the page, with its arguments in
   * `args`
   */
  constructor(private readonly inPage: (body: string, ...args: unknown[]) => Promise<unknown>) {}

  /**
   * All runs, on the user's database where they have one. A failing run doesn't stop the others.
   * Polls, because one call that waited for minutes would time out.
   * @throws CommandFailure (3) where the page fails, or closes without an `onClosed`
   */
  async run(
    runs: readonly Run[],
    { patienceMs, onProgress, interrupt, onClosed }: RunOptions = {},
  ): Promise<LabRun[]> {
    const database = runs.find((run) => run.database)?.database?.file; // one for all
    if (database) await this.giveDatabase(database);
    const kept = new KeptPasses(runs);
    let told = '';
    const done = await this.watched<LabRun[], PassesDone>(
      {
        what: "The Lab's page",
        door: 'run(args[0], args[1] ?? undefined)',
        args: [runs, patienceMs ?? null],
      },
      { door: 'passes(args[0])', args: () => [kept.counts] },
      (passes) => {
        kept.add(passes);
        if (told !== String(passes.at)) onProgress?.(...passes.at);
        told = String(passes.at);
      },
      { interrupt, onClosed },
    );
    return done ?? kept.results();
  }

  /**
   * Polls for an answer and for progress, because one call that waited for minutes would time out.
   * @param asked a call of `vfscopeLab`, its arguments, and the beginning of its error message
   * @param look another call, for progress
   * @param onSeen receives the progress, unless it is null
   * @returns null: the tab is gone, and `onClosed` was called
   * @throws CommandFailure (3) where the page fails, or closes without an `onClosed`
   */
  private async watched<Done, Seen>(
    asked: { what: string; door: string; args: unknown[] },
    look: { door: string; args: () => unknown[] },
    onSeen: (seen: Seen) => void,
    { interrupt, onClosed }: Pick<RunOptions, 'interrupt' | 'onClosed'>,
  ): Promise<Done | null> {
    let interrupted = false;
    void interrupt?.then(() => (interrupted = true));
    try {
      await this.inPage(
        `window.vfscopeLabOutcome = null;
         window.vfscopeLab.${asked.door}.then(
           (done) => { window.vfscopeLabOutcome = { done }; },
           (error) => { window.vfscopeLabOutcome = { failure: String(error?.message ?? error) }; });`,
        ...asked.args,
      );
      for (let stopped = false; ;) {
        await delay(POLL_MS); // the page itself handles hanging runs
        if (interrupted && !stopped) await this.ask('stop');
        stopped = interrupted;
        const { outcome, seen } = (await this.inPage(
          `return { outcome: window.vfscopeLabOutcome, seen: await window.vfscopeLab.${look.door} };`,
          ...look.args(),
        )) as { outcome: { done: Done } | { failure: string } | null; seen: Seen | null };
        if (seen) onSeen(seen);
        if (!outcome) continue;
        if ('failure' in outcome) throw browserFailed(`${asked.what} failed: ${outcome.failure}`);
        return outcome.done;
      }
    } catch (error) {
      if (error instanceof CommandFailure) throw error;
      if (!onClosed) throw browserFailed(`The Lab's tab is gone: ${(error as Error).message}`);
      onClosed();
      return null;
    }
  }

  private async giveDatabase(file: Blob): Promise<void> {
    for (let from = 0; from < file.size; from += PIECE_BYTES)
      await this.ask('addPiece', await base64(file.slice(from, from + PIECE_BYTES)));
    const why = await this.inPage(
      'return await window.vfscopeLab.takeDatabase().then(() => null, (error) => error.message);',
    );
    if (why !== null) throw browserFailed(`The Lab can't use the database: ${String(why)}`);
  }

  /** One pass with every layer recorded: the bytes of a .vfst file. */
  async trace(run: Run): Promise<Uint8Array<ArrayBuffer>> {
    return bytesOf(await this.ask('trace', run));
  }

  /**
   * A recording's VFS calls on another configuration.
   * @param trace bytes of a .vfst file; the replay is returned as one, too
   * @param options `onClosed`: the tab closed or crashed, and the calls replayed so far are the
   * replay; `onProgress`: number of these calls
   * @throws CommandFailure (3) where the page fails, or closes with nothing replayed or without an
   * `onClosed`
   */
  async replay(
    trace: Uint8Array,
    config: Config,
    options: Pick<RunOptions, 'interrupt' | 'onClosed' | 'onProgress'> = {},
  ): Promise<ReplayedInPage> {
    let kept: { at: number; report: ReplayReport; trace: string } | null = null;
    const done = await this.watched<
      Awaited<ReturnType<LabDoor['replay']>>,
      NonNullable<Awaited<ReturnType<LabDoor['replayed']>>>
    >(
      {
        what: 'The replay',
        door: 'replay(args[0], args[1])',
        args: [Buffer.from(trace).toString('base64'), config],
      },
      { door: 'replayed(args[0])', args: () => [kept?.at ?? 0] },
      (seen) => {
        kept = seen;
        options.onProgress?.(seen.report.calls, seen.report.callsInAll);
      },
      options,
    );
    if (done) return { ...done, trace: bytesOf(done.trace) };
    if (!kept) throw browserFailed('The replay had made no call yet.');
    const { report, trace: replayed } = kept as { report: ReplayReport; trace: string };
    return { report, trace: bytesOf(replayed), left: [] };
  }

  /** What runs left in storage. */
  storage(): Promise<string[]> {
    return this.ask('storage');
  }

  private async ask<K extends keyof LabDoor>(
    method: K,
    ...args: Parameters<LabDoor[K]>
  ): Promise<Awaited<ReturnType<LabDoor[K]>>> {
    const answer = await this.inPage(`return await window.vfscopeLab.${method}(...args);`, ...args);
    return answer as Awaited<ReturnType<LabDoor[K]>>;
  }
}

/** The finished passes, outside a tab that may close. */
class KeptPasses {
  private environment: PassesDone['environment'] = null;
  private readonly done: PassesDone['runs'];

  constructor(private readonly runs: readonly Run[]) {
    this.done = runs.map(() => ({ samples: [], message: '', left: [] }));
  }
  /** For each run, how many passes are here. */
  get counts(): number[] {
    return this.done.map(({ samples }) => samples.length);
  }
  add({ environment, runs }: PassesDone): void {
    this.environment = environment;
    for (const [i, kept] of this.done.entries()) {
      const { samples, message, left } = runs[i]!;
      kept.samples.push(...samples);
      [kept.message, kept.left] = [message, left];
    }
  }
  results(): LabRun[] {
    const { environment } = this;
    return this.done.map(({ samples, message, left }, i) => ({
      result: environment && !message ? resultSoFar(this.runs[i]!, samples, environment) : null,
      message,
      left,
    }));
  }
}

const base64 = async (file: Blob): Promise<string> =>
  Buffer.from(await file.arrayBuffer()).toString('base64');
const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(text, 'base64'));
