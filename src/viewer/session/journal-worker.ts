/**
 * The journal's worker holds the ports of all threads, writes their messages to disk, and passes
 * them on to the store's worker. It computes nothing, so messages are on disk at once, however long
 * the store's worker is busy.
 */
import {
  checkedThreadMessage,
  type ThreadCommand,
  type ThreadIdentity,
  type ThreadMessage,
} from '../../protocol/messages.ts';
import { serve, type Channel } from '../../protocol/rpc.ts';
import { MAX_THREADS } from '../../trace/file/format.ts';
import { entryBytes, openJournal } from './journal-file.ts';
import type { SyncAccessHandle } from './sync-access.ts';

/** Name of the worker: the same script as the store's. */
export const JOURNAL = 'vfscope journal';
/**
 * Maximum bytes of a file: more than threads may send while the store's worker doesn't answer (32
 * MiB a page).
 */
const MOST_BYTES = 128 << 20;

/** Messages from the journal's worker to the store's. */
export type JournalPush =
  /** A port has arrived, and gets this number. */
  | { k: 'line'; line: number }
  /** `child`: number of the port that came with it. `said` is undefined if it couldn't be read. */
  | { k: 'said'; line: number; said: unknown; child: number | null };

/** The files, one of which grows. */
class Writing {
  private current = 0;
  private at = 0;
  private entries = 0;
  /** The file lacks the last message, so later ones would be useless. */
  private cut = false;

  constructor(private readonly files: readonly SyncAccessHandle[]) {}

  write(message: ThreadMessage): void {
    if (this.cut) return;
    try {
      const bytes = entryBytes(this.entries++, message);
      this.cut =
        this.at + bytes.length > MOST_BYTES ||
        this.files[this.current]!.write(bytes, { at: this.at }) < bytes.length;
      this.at += bytes.length;
    } catch {
      this.cut = true; // a full disk: the copy, which is on the same disk, reports that
    }
  }

  turn(): void {
    const older = 1 - this.current;
    this.files[older]!.truncate(0);
    this.current = older;
    this.at = 0;
    this.cut = false;
  }

  /** @param empty its contents aren't needed */
  close(empty: boolean): void {
    for (const file of this.files) {
      if (empty) file.truncate(0);
      file.close();
    }
  }
}

/**
 * Which lines report for which threads, by the rules of ThreadPorts. What ThreadPorts would reject
 * isn't written either.
 */
class Speakers {
  private readonly lines = new Map<string, Set<number>>();
  private readonly parents = new Map<string, string | null>();
  /** The first thread of each line. */
  private readonly first = new Map<number, string>();
  /** The line that handed over another one. */
  private readonly from = new Map<number, number>();

  child(line: number, from: number): void {
    this.from.set(line, from);
  }

  may(line: number, message: ThreadMessage): boolean {
    if (message.k === 'hello') return this.hello(line, message.thread);
    if (message.k === 'batch') return this.speaks(line, message.batch.thread);
    if (message.k === 'child') return false; // ports can't be serialized
    const parent = this.parents.get(message.thread);
    return this.speaks(line, message.thread) || (!!parent && this.speaks(line, parent));
  }

  private hello(line: number, { id, kind, parent }: ThreadIdentity): boolean {
    let lines = this.lines.get(id);
    const maker = this.first.get(this.from.get(line) ?? 0) ?? null;
    if (!lines) {
      if (this.lines.size >= MAX_THREADS) return false;
      this.lines.set(id, (lines = new Set([line])));
      this.parents.set(id, kind === 'worker' ? (parent ?? maker) : parent);
      if (!this.first.has(line)) this.first.set(line, id);
    } else if (kind === 'shared-worker' || kind === 'service-worker')
      lines.add(line); // outlives the page that relayed for it
    else if (kind === 'worker') {
      // who made it speaks for it, too
      const known = this.parents.get(id);
      if (known && (known === maker || this.speaks(line, known))) lines.add(line);
    }
    return lines.has(line);
  }
  private speaks(line: number, thread: string): boolean {
    return this.lines.get(thread)?.has(line) ?? false;
  }
}

/** Requests of the store's worker. */
export class JournalDoor {
  private readonly ports = new Map<number, MessagePort>();
  private readonly speakers = new Speakers();
  private lines = 0;
  private writing: Writing | null = null;

  constructor(private readonly push: (message: JournalPush, transfer?: Transferable[]) => void) {}

  async open(name: string): Promise<void> {
    this.writing = new Writing(await openJournal(name));
  }
  async attach(port: MessagePort): Promise<void> {
    this.push({ k: 'line', line: this.take(port) });
  }
  async post(line: number, command: ThreadCommand): Promise<void> {
    this.ports.get(line)?.postMessage(command);
  }
  async close(line: number): Promise<void> {
    const port = this.ports.get(line);
    this.ports.delete(line);
    if (!port) return;
    port.onmessage = null;
    port.close();
  }
  /** Empty the older file and continue with it. The answer follows all earlier messages. */
  async turn(): Promise<void> {
    this.writing?.turn();
  }
  /** Stop writing. */
  async end(empty: boolean): Promise<void> {
    this.writing?.close(empty);
    this.writing = null;
  }

  private take(port: MessagePort): number {
    const line = ++this.lines;
    this.ports.set(line, port);
    port.onmessage = ({ data, ports }: MessageEvent<unknown>) => this.receive(line, data, ports);
    port.onmessageerror = () => this.push({ k: 'said', line, said: undefined, child: null });
    return line;
  }

  private receive(line: number, said: unknown, [moved]: readonly MessagePort[]): void {
    const message = checkedThreadMessage(said);
    if (message && this.speakers.may(line, message)) this.writing?.write(message);
    const child = message?.k === 'child' && moved ? this.take(moved) : null;
    if (child !== null) this.speakers.child(child, line);
    this.push(
      { k: 'said', line, said: message ?? undefined, child },
      message?.k === 'batch' ? [message.batch.records] : [],
    );
  }
}

export function serveJournal(channel: Channel): void {
  const push = (message: JournalPush, transfer: Transferable[] = []): void =>
    channel.postMessage({ push: message }, transfer);
  serve(channel, new JournalDoor(push));
}
