/**
 * Passes relay messages between content scripts and the panel that records their tab. Stores open
 * ports only.
 */
import type { WirePort } from '../platform/wire-port.ts';
import type { BackgroundMessage, RelayMessage } from '../protocol/messages.ts';
import { isRelayMessage } from '../protocol/messages.ts';
import { panelOf } from './recordings.ts';

interface Page {
  port: WirePort;
  /** The tab whose panel records it; null = none, or not any more. */
  panel: Promise<number | null>;
}

export class Relays {
  private readonly pages = new Map<string, Page>();

  /** @param tellPanel must not throw */
  constructor(private readonly tellPanel: (panel: number, message: BackgroundMessage) => void) {}

  /** A content script starts to relay. */
  onPage(port: WirePort, source: string): void {
    const tabId = port.sender?.tab?.id;
    if (tabId === undefined) return port.disconnect();
    // asked once, and messages stay in the order they arrived. A recording that has ended still
    // gets its last batches.
    const panel = panelOf(tabId);
    this.pages.set(source, { port, panel });
    port.onDisconnect.addListener(() => {
      if (this.pages.get(source)?.port === port) this.pages.delete(source);
    });
    port.onMessage.addListener((message) => {
      if (!isRelayMessage(message) || message.source !== source) return;
      panel.then(
        (found) => found !== null && this.tellPanel(found, message),
        (e: unknown) => console.warn('vfscope: a batch could not be passed on:', e),
      );
    });
  }

  toPage(message: RelayMessage): void {
    this.pages.get(message.source)?.port.postMessage(message);
  }

  /**
   * This panel has connected. What its pages sent before was lost, so they send it again. The panel
   * drops what it already has.
   */
  panelIsHere(panel: number): void {
    for (const [source, page] of this.pages)
      page.panel
        .then((found) => {
          if (found === panel)
            page.port.postMessage({
              k: 'relay',
              source,
              n: 0,
              seen: 0,
              body: null,
            } satisfies RelayMessage);
        })
        .catch((e: unknown) =>
          console.warn("vfscope: can't ask a page to send its threads again:", e),
        );
  }
}
