/** A recorded page of isolated-page.ts: the other end of its ports, and the panel. */
import { expect, vi } from 'vitest';
import type { Batch } from '../../src/event/batch.ts';
import {
  isThreadMessage,
  type Answer,
  type ThreadIdentity,
  type ThreadMessage,
} from '../../src/protocol/messages.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { storeOf } from './hooked-app.ts';
import type { InspectedPage } from './inspector.ts';
import { FarEnd } from './isolated-page.ts';

/** The background's answer to a recorded page. */
export const RECORDED: Answer = {
  recorded: true,
  since: 1,
  tabId: 1,
  token: 't',
  transport: 'runtime',
  refused: [],
  joins: false,
};
export const WAIT = { timeout: 30_000, interval: 20 };

/** The panel's side of the page's ports: collects what threads send, and acknowledges it. */
export class Recording {
  readonly hellos: ThreadIdentity[] = [];
  readonly batches: Batch[] = [];
  readonly byes = new Map<string, string>();
  far: FarEnd;
  private readonly ports = new Set<MessagePort>();
  private readonly received = new Map<string, number>();
  /** Number of threads in earlier documents. */
  private gone = 0;

  constructor(private readonly page: InspectedPage) {
    this.far = new FarEnd(page, this.follow);
  }

  private readonly follow = (port: MessagePort): void => {
    this.ports.add(port);
    port.onmessage = ({ data, ports: [child] }: MessageEvent<ThreadMessage>) => {
      if (!isThreadMessage(data)) throw new TypeError('no message of a thread');
      if (data.k === 'child') this.follow(child!);
      else if (data.k === 'hello') this.hellos.push(data.thread);
      else if (data.k === 'bye') this.byes.set(data.thread, data.reason);
      else {
        this.batches.push(data.batch);
        const records = (this.received.get(data.batch.thread) ?? 0) + data.batch.count;
        this.received.set(data.batch.thread, records);
        port.postMessage({ k: 'ack', thread: data.batch.thread, records });
      }
    };
  };

  /** Delivers messages in both directions until the condition holds. */
  readonly until = (holds: () => void | Promise<void>, timeout = WAIT.timeout): Promise<void> =>
    vi.waitFor(
      async () => {
        await this.far.pump();
        await holds();
      },
      { ...WAIT, timeout },
    );

  /** Delivers messages in both directions until the promise settles. */
  async meanwhile<T>(work: Promise<T>, timeout?: number): Promise<T> {
    let done = false;
    const ended = work.finally(() => void (done = true));
    await this.until(() => expect(done).toBe(true), timeout).catch((e: unknown) =>
      Promise.race([ended, Promise.reject(e as Error)]),
    );
    return ended;
  }

  /** Loads another document, which has new threads. */
  async load(url: string): Promise<void> {
    this.gone = this.hellos.length;
    this.far = new FarEnd(this.page, this.follow);
    await this.page.goto(url);
  }

  /** Stops: resolves when every thread of the document has said bye, after its last batch. */
  async stopped(): Promise<void> {
    for (const port of this.ports) port.postMessage({ k: 'stop' });
    const open = this.hellos.slice(this.gone).map(({ id }) => id);
    await this.until(() => expect([...this.byes.keys()]).toEqual(expect.arrayContaining(open)));
  }
  close(): void {
    for (const port of this.ports) port.close();
  }

  store = (): TraceStore => storeOf(this.hellos, this.batches);
  /** The page's own marks, in order. */
  marks(): string[] {
    return this.batches.flatMap(({ definitions }) =>
      definitions.flatMap((d) => (d.kind === 'name' && /^t-/.test(d.text) ? [d.text] : [])),
    );
  }
}
