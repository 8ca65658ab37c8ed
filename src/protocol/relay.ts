/**
 * Stands in for MessagePorts where none can be handed over: the two ends of a relay exchange
 * numbered messages. The connection may lose messages when it breaks (a service worker that dies).
 * What wasn't acknowledged is sent again.
 */
import type { RelayBody, RelayMessage, ThreadCommand, ThreadMessage } from './messages.ts';
import { checkedThreadCommand, checkedThreadMessage } from './messages.ts';
import { dataOf, newChannel, portClose, portListen, portPost, portsOf } from './ports.ts';

export class RelayEnd {
  private unacknowledged: RelayMessage[] = [];
  private sent = 0;
  private seen = 0;
  /**
   * The value of `seen` when a gap was last reported. One report per gap is enough, since the
   * messages behind it are on their way.
   */
  private askedAt = -1;
  private readonly ports = new Map<string, MessagePort>();

  /**
   * @param source identifies this relay among others on the same connection
   * @param send may lose messages and must not throw
   * @param onPort takes the ports that the other end carries, as if they had been handed over
   */
  constructor(
    readonly source: string,
    private readonly send: (message: RelayMessage) => void,
    private readonly onPort: (port: MessagePort) => void = portClose,
  ) {}

  /**
   * Stand in for this port: the other end gets one that behaves like its peer.
   * @returns sends a message there within this call, as if the port's peer had. A port's message
   * would be lost in a worker that closes
   */
  carry(port: MessagePort): (data: ThreadMessage) => void {
    const channel = this.attach(port);
    this.post({ k: 'open', channel });
    return (data) => this.post({ k: 'data', channel, data });
  }

  /** Take in what came from the other end. */
  receive(message: RelayMessage): void {
    this.unacknowledged = this.unacknowledged.filter(({ n }) => n > message.seen);
    if (!message.body) return this.resend();
    if (message.n > this.seen + 1) {
      if (this.askedAt !== this.seen) this.ask(); // one before it was lost
      return;
    }
    if (message.n <= this.seen) return; // sent twice
    this.seen = message.n;
    this.deliver(message.body);
  }

  /**
   * The connection works again: resend what may have been lost, and have the other end do so, too.
   */
  repair(): void {
    this.resend();
    this.ask();
  }

  private resend(): void {
    for (const message of this.unacknowledged) this.send({ ...message, seen: this.seen });
  }

  private ask(): void {
    this.askedAt = this.seen;
    this.send({ k: 'relay', source: this.source, n: 0, seen: this.seen, body: null });
  }

  /** Close every port. */
  close(): void {
    for (const port of this.ports.values()) portClose(port);
    this.ports.clear();
    this.unacknowledged = [];
  }

  private attach(port: MessagePort, channel = drawName()): string {
    this.ports.set(channel, port);
    portListen(port, (event) => {
      const data = dataOf(event);
      const said = checkedThreadMessage(data) ?? checkedThreadCommand(data);
      if (!said) return; // any page script may post here
      const [child] = portsOf(event);
      if (said.k === 'child') {
        if (child)
          this.post({ k: 'data', channel, data: { k: 'child' }, child: this.attach(child) });
      } else this.post({ k: 'data', channel, data: said });
    });
    return channel;
  }

  private deliver(body: RelayBody): void {
    if (body.k === 'open') return this.onPort(this.open(body.channel));
    const { data, child } = body;
    const message: ThreadMessage | ThreadCommand = data;
    const port = this.ports.get(body.channel);
    if (port) portPost(port, message, child === undefined ? undefined : this.open(child));
  }

  private open(channel: string): MessagePort {
    const { ours, theirs } = newChannel();
    this.attach(ours, channel);
    return theirs;
  }

  private post(body: RelayBody): void {
    const message: RelayMessage = {
      k: 'relay',
      source: this.source,
      n: ++this.sent,
      seen: this.seen,
      body,
    };
    this.unacknowledged.push(message);
    this.send(message);
  }
}

/** As it was at the thread's start. */
const getRandomValues = crypto.getRandomValues.bind(crypto);

/** A name that no page can guess. Works in insecure contexts, where randomUUID is missing. */
export function drawName(): string {
  return Array.from(getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join('');
}
