/**
 * The page's side of shared and service workers that carry the hook: offers a relay to those that
 * ask, and tracks which workers of the app have sent nothing.
 */
import { MARK } from '../protocol/messages.ts';
import { RelayEnd } from '../protocol/relay.ts';
import {
  broadcast,
  channelClose,
  dataOf,
  listen,
  NativeBroadcastChannel,
  setTimeout,
} from './natives.ts';
import { NATIVES_DRIVEN } from './source.ts';
import { CHANNEL, isSharedMessage, type SharedMessage } from './shared-wire.ts';

/** A worker that sends nothing for this long after the app started it runs without our hook. */
const SILENT_MS = NATIVES_DRIVEN ? 3000 : 5000;
/** The last records of a worker that stops still come through here. */
const LINGER_MS = 3000;

interface SharedRelayHost {
  /** Id of this page's thread. */
  readonly id: string;
  /** Replaces the port of a worker. */
  onChild(port: MessagePort): void;
  fault(where: string, error: unknown): void;
}

export class SharedRelay {
  private readonly relays = new Map<string, RelayEnd>();
  private readonly heard = new Set<string>();
  /** Started but silent so far. Reported once for each. */
  private readonly silent = new Map<string, () => void>();
  private readonly channel: BroadcastChannel;
  private leaving = false;

  constructor(private readonly host: SharedRelayHost) {
    // throws in an opaque origin, which has no such workers either
    this.channel = new NativeBroadcastChannel(CHANNEL);
    listen(this.channel, 'message', (event) => this.hear(dataOf(event)));
    this.say({ mark: MARK, k: 'who' });
  }

  /**
   * The app has started a shared or service worker.
   * @param worker its sharedKey
   * @param unheard called when it runs without our hook
   */
  expect(worker: string, unheard: () => void): void {
    this.say({ mark: MARK, k: 'who' });
    if (this.heard.has(worker)) return;
    this.silent.set(worker, unheard);
    setTimeout(() => this.judge(worker), SILENT_MS);
  }
  private judge(worker: string): void {
    this.silent.get(worker)?.();
    this.silent.delete(worker);
  }

  /** The recording is over, or the page ends. */
  leave(now: boolean): void {
    if (this.leaving) return;
    this.leaving = true;
    for (const worker of this.silent.keys()) this.judge(worker);
    const end = (): void => {
      this.say({ mark: MARK, k: 'leave', page: this.host.id });
      for (const relay of this.relays.values()) relay.close();
      channelClose(this.channel);
    };
    if (now) end();
    else setTimeout(end, LINGER_MS);
  }

  /** A worker's message, over the channel or over its line. */
  hear(said: unknown): void {
    try {
      if (isSharedMessage(said)) this.receive(said);
    } catch (e) {
      this.host.fault('a shared worker', e);
    }
  }

  private say(message: SharedMessage): void {
    broadcast(this.channel, message);
  }

  private receive(message: SharedMessage): void {
    const { id: page } = this.host;
    if (message.k === 'here' || message.k === 'taken') {
      this.heard.add(message.worker);
      this.silent.delete(message.worker);
    }
    if (message.k === 'here') {
      if (!this.leaving) this.say({ mark: MARK, k: 'take', thread: message.thread, page });
    } else if (message.k === 'taken') {
      if (message.page !== page) return;
      const { thread } = message;
      const send = (relayed: Extract<SharedMessage, { k: 'relay' }>['message']): void =>
        this.say({ mark: MARK, k: 'relay', to: thread, message: relayed });
      this.relays.set(
        `${thread}:${page}`,
        new RelayEnd(`${thread}:${page}`, send, (port) => this.host.onChild(port)),
      );
    } else if (message.k === 'relay' && message.to === page)
      this.relays.get(message.message.source)?.receive(message.message);
  }
}
