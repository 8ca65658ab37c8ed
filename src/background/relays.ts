/** Passes relay messages between content scripts and the panel that records their tab. Keeps nothing but open ports. */
import type { WirePort } from '../platform/wire-port.ts';
import type { BackgroundMessage, RelayMessage } from '../protocol/messages.ts';
import { isRelayMessage } from '../protocol/messages.ts';
import { panelOf } from './recordings.ts';

export class Relays {
  private readonly pages = new Map<string, WirePort>();

  /** @param tellPanel must not throw */
  constructor(private readonly tellPanel: (panel: number, message: BackgroundMessage) => void) {}

  /** A content script relays from now on. */
  onPage(port: WirePort, source: string): void {
    const tabId = port.sender?.tab?.id;
    if (tabId === undefined) return port.disconnect();
    this.pages.set(source, port);
    port.onDisconnect.addListener(() => {
      if (this.pages.get(source) === port) this.pages.delete(source);
    });
    // asked once; the order of messages stays that of their arrival. A recording that ended still gets its last batches.
    const panel = panelOf(tabId);
    port.onMessage.addListener((message) => {
      if (!isRelayMessage(message) || message.source !== source) return;
      panel.then(
        (found) => found !== null && this.tellPanel(found, message),
        (e: unknown) => console.warn('vfscope: a batch could not be passed on:', e),
      );
    });
  }

  toPage(message: RelayMessage): void {
    this.pages.get(message.source)?.postMessage(message);
  }
}
