/**
 * The receiver of recordings that leave their pages as they are made (src/embed/stream.ts): one
 * trace of all senders.
 */
import { checkedPost, streamText, type StreamAnswer, type StreamPost } from '../protocol/stream.ts';
import type { ThreadCommand } from '../protocol/messages.ts';
import { originOf, saveTrace } from '../trace/file/write.ts';
import { TraceStore } from '../trace/store.ts';
import type { Line } from '../viewer/session/line.ts';
import { unwatched, type ThreadPorts } from '../viewer/session/thread-ports.ts';

/** Maximum pages and workers of a recording, for senders that keep inventing names. */
const MOST_SOURCES = 10_000;

interface Source {
  /** Number of the last post that was received, and its answer. */
  n: number;
  answer: string;
  readonly lines: Map<number, PostedLine>;
}

/** A line whose thread is in a page. */
class PostedLine implements Line {
  hear: (said: unknown, moved: readonly Line[]) => void = () => {};
  constructor(readonly post: (command: ThreadCommand) => void) {}
  listen(onSaid: PostedLine['hear']): void {
    this.hear = onSaid;
  }
  close(): void {
    this.hear = () => {};
  }
}

export class Receiver {
  readonly store = new TraceStore(performance.timeOrigin + performance.now());
  private readonly sources = new Map<string, Source>();
  private readonly threads: ThreadPorts;
  private commands: StreamAnswer['commands'] = [];

  /** @param say called with messages for the user */
  constructor(say: (text: string) => void) {
    this.threads = unwatched(this.store, say);
  }

  /** Receive a post. @returns the text to answer with; null if the post isn't ours */
  receive(text: string): string | null {
    const post = checkedPost(text);
    if (!post) return null;
    const source = this.source(post);
    if (!source) return null;
    if (post.n <= source.n) return source.answer; // sent again
    source.n = post.n;
    this.commands = [];
    for (const { line, message, child } of post.said) {
      const moved = child === undefined ? [] : [this.line(source, child)];
      this.known(source, line).hear(message, moved);
    }
    source.answer = streamText({ commands: this.commands });
    return source.answer;
  }

  private source({ source: name }: StreamPost): Source | null {
    let source = this.sources.get(name);
    if (!source && this.sources.size < MOST_SOURCES)
      this.sources.set(name, (source = { n: 0, answer: '', lines: new Map() }));
    return source ?? null;
  }

  /** A line that wasn't announced before is a page's own. */
  private known(source: Source, number: number): PostedLine {
    const present = source.lines.get(number);
    if (present) return present;
    const line = this.line(source, number);
    this.threads.attach(line);
    return line;
  }

  private line({ lines }: Source, number: number): PostedLine {
    const line = new PostedLine((command) => void this.commands.push({ line: number, command }));
    lines.set(number, line);
    return line;
  }

  /** Threads that have sent something. */
  get threadCount(): number {
    return this.store.threads.length;
  }

  /** The `.vfst` file so far. */
  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    const file = await saveTrace(this.store, { origin: originOf(this.store) });
    return new Uint8Array(await file.arrayBuffer());
  }
}
