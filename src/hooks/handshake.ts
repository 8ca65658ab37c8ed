/**
 * The page's side of the handshake with the content script: connects a line to it, offers a port
 * over that line until it is taken, and learns there when the recording ends. The connection is
 * made within one call, before the app's first one, so no listener of the app sees it, and
 * document.open(), which removes a window's listeners, can't break it.
 */
import {
  CONTACT,
  isContentMessage,
  type PageMessage,
  type SharedAsk,
  type WORKER,
} from '../protocol/messages.ts';
import { ANY_REFUSAL, REFUSALS, type Refusal } from '../protocol/page-policy.ts';
import {
  clearTimeout,
  dataOf,
  dispatch,
  listen,
  newChannel,
  portClose,
  portListen,
  portPost,
  sequence,
  NativeMessageEvent,
  NativePromise,
  setTimeout,
  unlisten,
} from './natives.ts';

/**
 * Timeout without any answer: the content script isn't there yet. Long, since an answer doesn't
 * identify its offer and must not be taken for one to the next.
 */
const NO_ANSWER_MS = 3000;
/** After this many unanswered offers in a row, the content script is gone or never comes. */
const MOST_UNANSWERED = 10;
/** Timeout for a question about a SharedWorker without a content script: the extension is gone. */
const UNANSWERED_MS = 5000;
/** Delays after `no-panel`, since a panel may open later. They grow. */
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5000;

interface HandshakeEvents {
  /** The panel has the other end of this port. */
  onConnected(port: MessagePort): void;
  /** This tab is recorded. */
  onRecorded(): void;
  /**
   * This tab isn't recorded, or no other end can answer.
   * @param joins SharedWorkers are started with our script anyway
   */
  onRestore(joins: boolean): void;
}

export class Handshake {
  /** Our end of the line; null = the other end has no owner. */
  private line: MessagePort | null = null;
  /** The other end, an object of this document. Both scripts get its events synchronously. */
  private other: MessagePort | null = null;
  private laying: Event | null = null;
  private offered: MessagePort | null = null;
  private unanswered = 0;
  private timer = 0;
  private wait = FIRST_RETRY_MS;
  private done = false;
  private resting = false;
  /** By number: the question, and who gets the answer. */
  private readonly asked = new Map<number, [ask: SharedAsk, answer: (url: string) => void]>();
  private asks = 0;

  constructor(private readonly events: HandshakeEvents) {
    listen(window, CONTACT, this.onContact, true);
    this.lay();
  }

  /** Offer a fresh port to the content script. */
  offer(): void {
    if (this.unanswered++ === MOST_UNANSWERED) return this.events.onRestore(false);
    if (this.offered) portClose(this.offered);
    const { ours, theirs } = newChannel();
    this.offered = ours;
    if (!this.line) this.lay();
    if (this.line) portPost(this.line, { k: 'offer' } satisfies PageMessage, theirs);
    this.again(NO_ANSWER_MS);
  }

  /** What policies of this document refuse, as far as the content script knows. */
  readonly refusals = (): Refusal[] =>
    this.tell(ANY_REFUSAL) ? REFUSALS.filter((what) => this.tell(what)) : [];

  /**
   * Tell the content script, which receives it within this call.
   * @param what that a worker requests the script `data`; or a question about policies
   * @returns yes
   */
  tell(what: Refusal | typeof ANY_REFUSAL | typeof WORKER, data?: string): boolean {
    return (
      !!this.other &&
      !dispatch(
        this.other,
        new NativeMessageEvent(what, {
          __proto__: null,
          cancelable: true,
          data,
        } as MessageEventInit),
      )
    );
  }

  /** Which URL is for this SharedWorker? @returns '' without an answer */
  ask(ask: SharedAsk): Promise<string> {
    return new NativePromise((answer) => {
      const n = ++this.asks;
      this.asked.set(n, [ask, answer]);
      setTimeout(() => this.line || this.answered(n, ''), UNANSWERED_MS);
      if (!this.line) this.lay();
      this.say(n, ask);
    });
  }
  private say(n: number, ask: SharedAsk): void {
    if (this.line) portPost(this.line, { k: 'shared', n, ...ask } satisfies PageMessage);
  }
  private answered(n: number, url: string): void {
    const [, answer] = this.asked.get(n) ?? [];
    this.asked.delete(n);
    answer?.(url);
  }

  /** Make no offers until the content script comes again. */
  rest(): void {
    this.stopOffering();
    this.resting = true;
  }

  /**
   * The page ends before an answer came. Data sent to this port still arrives if the offer does.
   */
  takeOffered(): MessagePort | null {
    const port = this.offered;
    this.stopOffering();
    return port;
  }

  /** Stop listening. */
  close(): void {
    this.stopOffering();
    for (const n of [...this.asked.keys()]) this.answered(n, '');
    unlisten(window, CONTACT, this.onContact, true);
    if (this.line) portClose(this.line);
    this.line = null;
  }

  /** The receiver of the other end prevents the event's default. */
  private lay(): void {
    const { ours, theirs } = newChannel();
    const event = new NativeMessageEvent(CONTACT, {
      __proto__: null,
      ports: sequence(theirs),
      cancelable: true,
    } as MessageEventInit);
    this.laying = event;
    if (dispatch(window, event)) return;
    if (this.line) portClose(this.line);
    this.line = ours;
    this.other = theirs;
    portListen(ours, this.onMessage);
  }

  /** The content script has started, or restarted. */
  private readonly onContact = (event: Event): void => {
    if (event === this.laying) return;
    this.lay();
    for (const [n, [ask]] of this.asked) this.say(n, ask);
    if (this.resting) [this.resting, this.done, this.unanswered] = [false, false, 0];
    else if (!this.offered) return;
    this.offer();
  };

  private again(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.offer(), ms);
  }

  private stopOffering(): void {
    this.done = true;
    this.offered = null;
    clearTimeout(this.timer);
  }

  private readonly onMessage = (event: Event): void => {
    const data = dataOf(event);
    if (!isContentMessage(data)) return;
    if (data.k === 'shared') this.answered(data.n, data.url);
    else if (data.k === 'restore') this.events.onRestore(data.joins === true);
    else if (data.k === 'recorded') this.events.onRecorded();
    else if (this.done || !this.offered) return;
    else if (data.k === 'connected') {
      const port = this.offered;
      this.stopOffering();
      this.events.onConnected(port);
    } else {
      this.unanswered = 0;
      this.again(this.wait);
      this.wait = Math.min(LAST_RETRY_MS, this.wait * 2);
    }
  };
}
