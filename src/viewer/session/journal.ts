/**
 * The recording's journal, as the store's worker sees it. Ports go to the journal's worker, which
 * writes down their messages, then passes them on as lines. Once the copy on disk has everything in
 * a file of the journal, that file is emptied.
 */
import { remote, type Channel } from '../../protocol/rpc.ts';
import { JOURNAL, type JournalDoor, type JournalPush } from './journal-worker.ts';
import type { Line } from './line.ts';
import { inWorker, startHelper } from '../../protocol/workers.ts';

/** A line that goes through the journal's worker. */
class JournalLine implements Line {
  onSaid: (said: unknown, moved: readonly Line[]) => void = () => {};

  constructor(
    private readonly id: number,
    private readonly door: Pick<JournalDoor, 'post' | 'close'>,
    private readonly onClose: () => void,
  ) {}

  listen(onSaid: (said: unknown, moved: readonly Line[]) => void): void {
    this.onSaid = onSaid;
  }
  post(...[command]: Parameters<Line['post']>): void {
    // the worker has ended, and its ports too
    void this.door.post(this.id, command).catch(() => undefined);
  }
  close(): void {
    this.onClose();
    void this.door.close(this.id).catch(() => undefined);
  }
}

export class Journal {
  private readonly lines = new Map<number, JournalLine>();
  /** Everything in the older file is in the store. */
  private stored = false;
  private readonly far: ReturnType<typeof remote<JournalDoor>>;

  /**
   * @param channel to a worker that runs `serveJournal` @param onLine a thread's port has arrived
   */
  constructor(
    private readonly channel: Channel & { terminate?(): void },
    private readonly onLine: (line: Line) => void,
  ) {
    this.far = remote<JournalDoor>(channel, (message) => this.hear(message as JournalPush));
  }

  /**
   * Start a worker that writes a journal. @returns null if workers aren't available @throws if it
   * can't write
   */
  static async start(name: string, onLine: (line: Line) => void): Promise<Journal | null> {
    if (!inWorker) return null;
    const worker = startHelper(JOURNAL);
    const journal = new Journal(worker, onLine);
    worker.onFailed = () =>
      journal.far.fail(new Error("the journal's worker could not be started"));
    try {
      await journal.far.api.open(name);
    } catch (error) {
      journal.close();
      throw error;
    } finally {
      worker.onFailed = null; // later errors are reported like those of the store's worker
    }
    await journal.turn();
    return journal;
  }

  attach(port: MessagePort): Promise<void> {
    return this.far.api.attach(port);
  }

  /**
   * The copy on disk is about to take in the store's contents. @returns a function to call when it
   * has
   */
  covered(): () => void {
    return this.stored ? () => void this.turn() : () => undefined;
  }
  private async turn(): Promise<void> {
    this.stored = false;
    // a file that can't be emptied is tried again next time
    await this.far.api.turn().catch(() => undefined);
    this.stored = true;
  }

  /** Stop writing; lines continue. @param empty the copy on disk has everything */
  async end(empty: boolean): Promise<void> {
    await this.far.api.end(empty).catch(() => undefined); // the worker has ended
  }

  /** End the worker, and its ports. */
  close(): void {
    this.channel.terminate?.();
    this.far.fail(new Error('the journal is closed'));
  }

  private line(id: number): Line {
    const line = new JournalLine(id, this.far.api, () => this.lines.delete(id));
    this.lines.set(id, line);
    return line;
  }
  private hear(message: JournalPush): void {
    if (message.k === 'line') return this.onLine(this.line(message.line));
    const { line, said, child } = message;
    this.lines.get(line)?.onSaid(said, child === null ? [] : [this.line(child)]);
  }
}
