/** The Lab's page in a browser that we drive: what is asked of its door, in Chromium and Firefox alike. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ReplayReport } from '../experiments/replay/replay.ts';
import type { LabDoor, LabRun } from '../experiments/door.ts';
import type { Config, Run } from '../experiments/model/types.ts';
import { browserFailed } from '../../terminal/failure.ts';

const POLL_MS = 100;
/** Of a database on its way to the page, bytes: a message of a driver does not hold all of it. */
const PIECE_BYTES = 1 << 20;

export interface LabOptions {
  /** Folder of the built extension. */
  extension: string;
  headed?: boolean;
  /** Longest time for one pass, ms. */
  patienceMs?: number;
  /** Passes done, and passes in all. */
  onProgress?: (done: number, all: number) => void;
  /** Once it resolves, the passes that were done are the result. */
  interrupt?: Promise<void>;
}

/** What the page's door answered, and how far it is. */
interface Seen {
  outcome: { done: LabRun[] } | { failure: string } | null;
  at: [done: number, all: number] | null;
}

export class LabPage {
  /** @param inPage runs the body of an asynchronous function in the page; it finds what is given behind it in `args` */
  constructor(private readonly inPage: (body: string, ...args: unknown[]) => Promise<unknown>) {}

  /** All runs, on a database of the user's where they have one; one that fails does not stop the others. Asked for now and then: one call that waited for minutes would be given up. */
  async run(
    runs: readonly Run[],
    patienceMs?: number,
    onProgress?: LabOptions['onProgress'],
    interrupt?: Promise<void>,
  ): Promise<LabRun[]> {
    const database = runs.find((run) => run.database)?.database?.file; // one for all
    if (database) await this.giveDatabase(database);
    await this.inPage(
      `window.vfscopeLabSeen = { outcome: null, at: null };
       window.vfscopeLabProgress = (done, all) => { window.vfscopeLabSeen.at = [done, all]; };
       window.vfscopeLab.run(args[0], args[1] ?? undefined).then(
         (done) => { window.vfscopeLabSeen.outcome = { done }; },
         (error) => { window.vfscopeLabSeen.outcome = { failure: String(error?.message ?? error) }; });`,
      runs,
      patienceMs ?? null,
    );
    let interrupted = false;
    void interrupt?.then(() => (interrupted = true));
    for (let told = '', stopped = false; ;) {
      await delay(POLL_MS); // the page itself gives up what hangs
      if (interrupted && !stopped) await this.ask('stop');
      stopped = interrupted;
      const { outcome, at } = (await this.inPage('return window.vfscopeLabSeen;')) as Seen;
      if (at && told !== String(at)) onProgress?.(...at);
      told = String(at);
      if (!outcome) continue;
      if ('failure' in outcome) throw browserFailed(`The Lab's page failed: ${outcome.failure}`);
      return outcome.done;
    }
  }

  private async giveDatabase(file: Blob): Promise<void> {
    for (let from = 0; from < file.size; from += PIECE_BYTES)
      await this.ask('addPiece', await base64(file.slice(from, from + PIECE_BYTES)));
    const why = await this.inPage(
      'return await window.vfscopeLab.takeDatabase().then(() => null, (error) => error.message);',
    );
    if (why !== null) throw browserFailed(`The Lab does not take the database: ${String(why)}`);
  }

  /** One pass with every layer recorded: the bytes of a .vfst file. */
  async trace(run: Run): Promise<Uint8Array<ArrayBuffer>> {
    return bytesOf(await this.ask('trace', run));
  }

  /**
   * A recording's VFS calls on another configuration.
   * @param trace bytes of a .vfst file; the replay is answered as one, too @param interrupt once it resolves, the calls that were made are the replay
   */
  async replay(
    trace: Uint8Array,
    config: Config,
    interrupt?: Promise<void>,
  ): Promise<{ report: ReplayReport; trace: Uint8Array<ArrayBuffer>; left: string[] }> {
    let over = false;
    void interrupt?.then(() => (over ? undefined : this.ask('stop')));
    const done = await this.ask('replay', Buffer.from(trace).toString('base64'), config).finally(
      () => (over = true),
    );
    return { ...done, trace: bytesOf(done.trace) };
  }

  /** What runs have left in storage. */
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

const base64 = async (file: Blob): Promise<string> =>
  Buffer.from(await file.arrayBuffer()).toString('base64');
const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(text, 'base64'));
