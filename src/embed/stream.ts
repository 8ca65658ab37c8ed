/**
 * Sends a recording from its page or worker while it is being made: to an address (of the page's
 * server or of `vfscope listen`) or to a test runner's function. Only this file sends anything from
 * a recorded page, and only if `to` or `via` is set.
 */
import { randomId, setTimeout } from '../hooks/natives.ts';
import { checkedThreadMessage, type ThreadMessage } from '../protocol/messages.ts';
import { checkedAnswer, streamText, type Said, type StreamPost } from '../protocol/stream.ts';
import type { Line } from '../viewer/session/line.ts';
import type { Collector } from './collector.ts';

/** A post contains the messages of this much time. */
const SEND_EVERY_MS = 100;
/** Delay after a failed post. It doubles each time, up to the last value. */
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 8000;
/** Bytes of records in a post. What exceeds this goes into the next one. */
const POST_BYTES = 8 << 20;
/** For a receiver that doesn't answer. */
const FLUSH_MS = 5000;
/** What a page can send when it closes is limited. */
const BEACON_CHARS = 60_000;

/**
 * Sends a text and resolves with the answer. @param last the page is closing, so nothing receives
 * the answer
 */
type Send = (text: string, last: boolean) => Promise<string>;

// the original, because the hook and the app patch it
const { fetch: nativeFetch } = globalThis;

/** @param address that posts go to */
export const postTo =
  (address: string): Send =>
  async (body, last) => {
    const keepalive = last && body.length < BEACON_CHARS;
    const response = await nativeFetch(address, { method: 'POST', body, keepalive });
    const text = await response.text();
    if (!response.ok)
      throw new Error(`${address} answers ${response.status}: ${text.slice(0, 200)}`);
    return text;
  };

/** @param name of a global function that takes a text and resolves with the answer */
export const callOf =
  (name: string): Send =>
  (text) =>
    (globalThis as unknown as Record<string, (text: string) => Promise<string>>)[name]!(text);

export class Stream implements Collector {
  private readonly source = randomId();
  private readonly lines: Line[] = [];
  /** Threads that haven't sent `bye`. */
  private readonly alive = new Set<string>();
  private said: Said[] = [];
  private sent = 0;
  private sending = false;
  private timed = false;
  private wait = FIRST_RETRY_MS;
  /** Called when everything was sent and answered. */
  private onSettled: (() => void)[] = [];

  constructor(
    private readonly send: Send,
    private readonly where: string,
  ) {}

  attach(line: Line): void {
    this.add(line);
  }

  private add(line: Line): number {
    const number = this.lines.push(line) - 1;
    line.listen(
      (said, [child]) => {
        const message = checkedThreadMessage(said);
        if (message) this.hear(number, message, child);
      },
      () => {},
    );
    return number;
  }

  private hear(line: number, message: ThreadMessage, child: Line | undefined): void {
    // a child is announced before it sends messages
    if (message.k === 'child') {
      if (!child) return;
      const number = this.lines.length;
      this.said.push({ line, message, child: number });
      this.add(child);
    } else this.said.push({ line, message });
    if (message.k === 'hello') this.alive.add(message.thread.id);
    if (message.k === 'bye') this.alive.delete(message.thread);
    if (message.k === 'bye' && message.reason === 'pagehide') this.leave();
    else this.later(SEND_EVERY_MS);
  }

  /** The page closes right after this call. */
  private leave(): void {
    const post = { source: this.source, n: ++this.sent, said: this.said.splice(0) };
    this.send(streamText(post), true).catch(() => {}); // nothing more can be done here
  }

  private later(ms: number): void {
    if (this.timed || this.sending) return;
    this.timed = true;
    setTimeout(() => {
      this.timed = false;
      void this.post();
    }, ms);
  }

  /** Never rejects. */
  private async post(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    while (this.said.length) {
      const post = { source: this.source, n: ++this.sent, said: this.some() };
      await this.deliver(post);
    }
    this.sending = false;
    for (const settled of this.onSettled.splice(0)) settled();
  }

  /** As many messages as fit into a post. */
  private some(): Said[] {
    let bytes = 0;
    const end = this.said.findIndex(({ message }) => {
      bytes += message.k === 'batch' ? message.batch.records.byteLength : 0;
      return bytes > POST_BYTES;
    });
    return this.said.splice(0, end < 0 ? Infinity : Math.max(1, end));
  }

  private async deliver(post: StreamPost): Promise<void> {
    const text = streamText(post);
    for (;;)
      try {
        const answer = checkedAnswer(await this.send(text, false));
        if (!answer) throw new Error("the answer isn't from vfscope");
        for (const { line, command } of answer.commands) this.lines[line]?.post(command);
        this.wait = FIRST_RETRY_MS;
        return;
      } catch (e) {
        if (this.wait === FIRST_RETRY_MS)
          console.warn(
            `vfscope: the recording can't be sent to ${this.where}. vfscope tries again:`,
            e,
          );
        await new Promise<void>((done) => setTimeout(done, this.wait));
        this.wait = Math.min(LAST_RETRY_MS, this.wait * 2);
      }
  }

  async stop(timeoutMs: number): Promise<void> {
    let over = false;
    setTimeout(() => (over = true), timeoutMs);
    for (const line of this.lines) line.post({ k: 'stop' });
    do await this.settled(timeoutMs);
    while (this.alive.size && !over);
  }

  flush(): Promise<void> {
    return this.settled(FLUSH_MS);
  }

  /** Resolves when everything sent so far is answered, or after `timeoutMs`. */
  private settled(timeoutMs: number): Promise<void> {
    return new Promise((done) => {
      this.onSettled.push(done);
      setTimeout(done, timeoutMs);
      this.later(SEND_EVERY_MS / 2);
    });
  }

  save(): Promise<Blob> {
    return Promise.reject(
      new Error(`This recording is already sent to ${this.where}. Save it there.`),
    );
  }
}
