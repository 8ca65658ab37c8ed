/**
 * From rings to the panel: drains every 50 ms, or when a ring requests it during a long synchronous
 * task, and sends batches over the thread's port. One port carries the thread itself and, on an
 * isolated page, the shared rings of its workers.
 *
 * Data that waits for a port, or is sent but not acknowledged, has a limit. Above it nothing is
 * drained: the rings fill and count what they drop, until acks arrive.
 */
import {
  checkedThreadMessage,
  isThreadCommand,
  PROTOCOL_VERSION,
  type ThreadIdentity,
  type ThreadMessage,
} from '../protocol/messages.ts';
import { DRAIN_EVERY_MS } from '../event/capture.ts';
import { counters, drainRecords } from '../record/drain.ts';
import type { Batch } from '../event/batch.ts';
import type { Definition } from '../event/definitions.ts';
import { Header } from '../record/ring-layout.ts';
import {
  clearTimeout,
  dataOf,
  portClose,
  portListen,
  portPost,
  portsOf,
  setInterval,
} from './natives.ts';

/** Bytes of a thread that holds its records until they are acknowledged. */
const HELD_LIMIT = 32 * 1024 * 1024;
/**
 * The same where the records leave with the message: two million. A thread hears no ack until its
 * synchronous task ends.
 */
export const SENT_LIMIT = 4 * HELD_LIMIT;
/** Assumed size of a definition. Definitions travel as objects. */
const DEFINITION_BYTES = 200;

type Hello = Extract<ThreadMessage, { k: 'hello' }>;
type ByeReason = Extract<ThreadMessage, { k: 'bye' }>['reason'];

/** One thread's ring, as the transport reads it. */
export interface Source {
  readonly identity: ThreadIdentity;
  /** performance.timeOrigin of the thread, ms */
  readonly timeOrigin: number;
  readonly buffer: ArrayBufferLike;
  /** Definitions since the last call. Called after the records were drained. */
  takeDefinitions(): Definition[];
  /**
   * The limit is reached, or not any more: don't request drains. Only for a ring that requests
   * them.
   */
  hold?(on: boolean): void;
  /** Called after a drain, with the number of records lost so far. */
  lost?(dropped: number): void;
}

const batchOf = (
  { identity, timeOrigin }: Source,
  ...[first, count, dropped, faults, definitions, records]: [
    first: number,
    count: number,
    dropped: number,
    faults: number,
    definitions: Definition[],
    records: ArrayBuffer,
  ]
): Batch => ({
  thread: identity.id,
  first,
  count,
  timeOrigin,
  dropped,
  faults,
  definitions,
  records,
});

interface Sending {
  /** Null for a worker below, whose records pass through here, and for one that has ended. */
  source: Source | null;
  hello: Hello;
  /** Receives the panel's commands to a worker below. */
  below: MessagePort | undefined;
  /**
   * It has said goodbye. The goodbye is repeated on each connection, because the previous one may
   * have ended first.
   */
  bye?: ThreadMessage;
  /** Total records drained. */
  records: number;
  /**
   * Sent or waiting, not acknowledged: [total records up to here, bytes, the message; its records
   * may have been transferred with it].
   */
  unacked: [number, number, ThreadMessage][];
  faults: number;
  /**
   * The number of lost records last reported to the panel, including those that a held ring would
   * lose; 0 after more were sent.
   */
  told: number;
}

interface Waiting {
  message: ThreadMessage;
  transfer: Transferable | undefined;
}

export class Transport {
  /** The panel asked to stop. */
  onStop: () => void = () => {};
  private readonly threads = new Map<string, Sending>();
  private port: MessagePort | null = null;
  private say: ((message: ThreadMessage) => void) | null = null;
  private waiting: Waiting[] = [];
  private bytes = 0;
  private held = false;
  private draining = false;
  /** All threads of ours have said goodbye. */
  private isOver = false;
  private readonly timer: number;

  /** @param beforeDrain runs before each timed drain: the last chance to send something */
  constructor(
    private readonly fault: (where: string, error: unknown) => void,
    beforeDrain: () => void,
  ) {
    this.timer = setInterval(() => {
      beforeDrain();
      this.drain();
    }, DRAIN_EVERY_MS);
  }

  /** Maximum of `unacknowledgedBytes`. */
  get limit(): number {
    return this.port && !this.say ? SENT_LIMIT : HELD_LIMIT;
  }
  /** Bytes sent or waiting that are not acknowledged. */
  get unacknowledgedBytes(): number {
    return this.bytes;
  }

  /** Send this thread's records from now on. */
  add(source: Source): void {
    const { identity: thread, timeOrigin } = source;
    this.enroll(source, { k: 'hello', protocol: PROTOCOL_VERSION, thread, timeOrigin });
  }
  private enroll(source: Source | null, hello: Hello, below?: MessagePort): void {
    const sending: Sending = {
      source,
      hello,
      below,
      records: 0,
      unacked: [],
      faults: 0,
      told: 0,
    };
    this.threads.set(hello.thread.id, sending);
    this.post(hello);
  }

  /**
   * Everything goes to the panel's end of this port, starting with the waiting data. Called again
   * with another port if the first connection has ended. Then unacknowledged data is sent again,
   * and the panel uses record numbers to drop what it has.
   * @param say a shorter path where no port is handed on; it copies what it gets
   */
  connect(port: MessagePort, say: Transport['say'] = null): void {
    const again = this.port !== null;
    if (this.port) portClose(this.port);
    this.port = port;
    this.say = say;
    portListen(port, (event) => this.onCommand(dataOf(event)));
    const { waiting } = this;
    this.waiting = [];
    for (const { message, transfer } of waiting) this.post(message, transfer);
    if (again)
      for (const { hello, unacked, bye } of this.threads.values()) {
        this.post(hello);
        for (const [, , message] of unacked) this.post(message);
        if (bye) this.post(bye);
      }
    this.drain();
  }

  /** Hand a new worker's port to the panel. */
  child(port: MessagePort): void {
    this.post({ k: 'child' }, port);
  }

  /**
   * Send for a new worker below: a port of its own would end with the page that relays ours.
   * @param parent thread that made it
   */
  adopt(port: MessagePort, parent: string): void {
    let own = parent;
    portListen(port, (event) => {
      const message = checkedThreadMessage(dataOf(event));
      if (message?.k === 'hello') {
        // a worker whose script brings the hook doesn't know its creator
        message.thread.parent ??= parent;
        own = message.thread.id;
        return this.enroll(null, message, port);
      }
      if (message?.k === 'child') return portsOf(event).forEach((one) => this.adopt(one, own));
      if (message?.k === 'bye') {
        this.ends(message);
        if (this.isOver) this.close();
      } else if (message) {
        const { batch } = message;
        const sending = this.threads.get(batch.thread);
        if (sending) this.sends(sending, batch);
      }
    });
  }

  /** Drain the rings and send their records. Safe to call from inside the app's calls. */
  drain(): void {
    if (this.draining) return;
    this.draining = true;
    for (const sending of this.threads.values()) this.drainOne(sending, false);
    this.draining = false;
  }

  /**
   * Send the rest of a thread and say goodbye for it. Without an id: of all threads, which ends the
   * transport.
   */
  finish(reason: ByeReason, id?: string): void {
    for (const [thread, sending] of this.threads) {
      if (!sending.source || (id !== undefined && id !== thread)) continue;
      this.drainOne(sending, true);
      this.ends({ k: 'bye', thread, reason });
    }
    if (id !== undefined) return;
    this.isOver = true;
    this.close();
  }

  /** A thread whose ring can't be read any more, and that no other thread reads for us. */
  bye(thread: string, reason: ByeReason): void {
    this.ends({ k: 'bye', thread, reason, unheard: true });
  }
  private ends(bye: ThreadMessage & { k: 'bye' }): void {
    const sending = this.threads.get(bye.thread);
    if (sending) {
      if (this.say) [sending.source, sending.bye] = [null, bye];
      else this.remove(sending);
    }
    this.post(bye);
  }

  /**
   * Drop everything and stop, after the last of the workers below has said goodbye if they were
   * told to stop.
   */
  close(): void {
    clearTimeout(this.timer);
    if (this.isOver && [...this.threads.values()].some(({ bye }) => !bye)) return;
    this.threads.clear();
    this.waiting = [];
    if (this.port) portClose(this.port); // what was posted before is still delivered
    this.port = null;
  }

  private drainOne(sending: Sending, last: boolean): void {
    const { source } = sending;
    if (!source) return;
    try {
      for (;;) {
        if (this.bytes >= this.limit && !last) {
          this.hold(true);
          return this.tellWaiting(sending, source);
        }
        const drained = drainRecords(source.buffer);
        const definitions = source.takeDefinitions();
        const { dropped, faults } = counters(source.buffer);
        if (!drained && definitions.length === 0 && faults === sending.faults) return;
        sending.faults = faults;
        const first = drained?.first ?? new Uint32Array(source.buffer)[Header.claimed >>> 2]!;
        const records = drained?.records ?? new ArrayBuffer(0);
        const count = drained?.count ?? 0;
        this.sends(sending, batchOf(source, first, count, dropped, faults, definitions, records));
        source.lost?.(dropped);
      }
    } catch (e) {
      this.remove(sending); // can't be read: not tried again
      this.fault(`reading the ring of ${source.identity.url}`, e);
    }
  }

  private sends(sending: Sending, batch: Batch): void {
    const { records, definitions } = batch;
    sending.records += batch.count;
    const weight = records.byteLength + definitions.length * DEFINITION_BYTES;
    if (!sending.below) this.bytes += weight; // it has a separate limit
    sending.told = 0;
    const message: ThreadMessage = { k: 'batch', batch };
    sending.unacked.push([sending.records, weight, message]);
    this.post(message, records);
  }

  /**
   * If the thread is terminated now, its ring is lost. So this many records count as lost, until
   * the next batch takes that back.
   */
  private tellWaiting(sending: Sending, source: Source): void {
    const { buffer } = source;
    const words = new Uint32Array(buffer);
    const first = words[Header.claimed >>> 2]!;
    const { dropped, faults } = counters(buffer);
    const lost = dropped + ((words[Header.head >>> 2]! - first) >>> 0);
    if (!this.port || lost === sending.told) return;
    sending.told = lost;
    const batch = batchOf(source, first, 0, lost, faults, [], new ArrayBuffer(0));
    this.post({ k: 'batch', batch });
  }

  private remove(sending: Sending): void {
    this.threads.delete(sending.hello.thread.id);
    this.forget(sending);
  }

  /** What was sent won't be acknowledged. */
  private forget(sending: Sending): void {
    for (const [, weight] of sending.unacked) this.acked(sending, weight);
    sending.unacked = [];
  }

  private acked({ below }: Sending, weight: number): void {
    if (!below) this.bytes -= weight;
  }

  /** Send a message of this thread, or of a worker whose own port may not carry it yet. */
  post(message: ThreadMessage, transfer?: Transferable): void {
    if (!this.port) this.waiting.push({ message, transfer });
    else if (this.say && message.k !== 'child') this.say(message);
    else portPost(this.port, message, transfer);
  }

  private onCommand(data: unknown): void {
    if (!isThreadCommand(data)) return;
    if (data.k === 'stop') return this.onStop();
    const sending = this.threads.get(data.thread);
    if (!sending) return;
    if (sending.below) portPost(sending.below, data);
    while (sending.unacked.length && sending.unacked[0]![0] <= data.records)
      this.acked(sending, sending.unacked.shift()![1]);
    if (this.held && this.bytes < this.limit) this.hold(false);
  }

  private hold(on: boolean): void {
    if (this.held === on) return;
    this.held = on;
    for (const { source } of this.threads.values()) source?.hold?.(on);
    if (!on) this.drain();
  }
}
