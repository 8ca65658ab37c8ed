/**
 * The page's side of the handshake with the content script: offers a port until it is taken, and hears when the recording is
 * over. The app never sees these messages: our listener and the content script's are the first.
 */
import { isContentMessage, MARK, type PageMessage } from '../protocol/messages.ts';
import { clearTimeout, listen, NativeMessageChannel, setTimeout, unlisten } from './natives.ts';

/** Without any answer: the content script was not there yet. Long, since an answer names no offer and must not meet the next one. */
const NO_ANSWER_MS = 3000;
/** After `no-panel`: a panel may open later. Ever more rarely. */
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5000;

export interface HandshakeEvents {
  /** The panel has the other end of this port. */
  onConnected(port: MessagePort): void;
  /** This tab is not recorded (any more). */
  onRestore(): void;
}

export class Handshake {
  private offered: MessagePort | null = null;
  private timer: number | null = null;
  private wait = FIRST_RETRY_MS;
  private done = false;

  constructor(private readonly events: HandshakeEvents) {
    listen(window, 'message', this.onMessage, true);
  }

  /** Offer a fresh port to the content script. */
  offer(): void {
    this.offered?.close();
    const { port1, port2 } = new NativeMessageChannel();
    this.offered = port1;
    const message: PageMessage = { mark: MARK, k: 'offer' };
    window.postMessage(message, origin === 'null' ? '*' : origin, [port2]);
    this.again(NO_ANSWER_MS);
  }

  /** The page goes before an answer came: what is sent to this port still arrives if the offer does. */
  takeOffered(): MessagePort | null {
    const port = this.offered;
    this.stopOffering();
    return port;
  }

  /** Hear nothing more. */
  close(): void {
    this.stopOffering();
    unlisten(window, 'message', this.onMessage, true);
  }

  private again(ms: number): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => this.offer(), ms);
  }

  private stopOffering(): void {
    this.done = true;
    this.offered = null;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }

  private readonly onMessage = (event: Event): void => {
    const { data, source } = event as MessageEvent<unknown>;
    if (source !== window || !isContentMessage(data)) return;
    event.stopImmediatePropagation();
    if (data.k === 'restore') this.events.onRestore();
    else if (this.done || !this.offered) return;
    else if (data.k === 'connected') {
      const port = this.offered;
      this.stopOffering();
      this.events.onConnected(port);
    } else {
      this.again(this.wait);
      this.wait = Math.min(LAST_RETRY_MS, this.wait * 2);
    }
  };
}
