/**
 * A connection to a thread of a page, as the store's worker sees it: the thread's port itself, or
 * the port behind the journal.
 */
import type { ThreadCommand } from '../../protocol/messages.ts';

export interface Line {
  /**
   * Listen to the thread. Call once.
   * @param moved lines that came with a message @param onUnreadable called for a message that can't
   * be read
   */
  listen(onSaid: (said: unknown, moved: readonly Line[]) => void, onUnreadable: () => void): void;
  post(command: ThreadCommand): void;
  /** Stop listening. */
  close(): void;
}

export const lineOf = (port: MessagePort): Line => ({
  listen(onSaid, onUnreadable) {
    port.onmessage = ({ data, ports }: MessageEvent<unknown>) => onSaid(data, ports.map(lineOf));
    port.onmessageerror = onUnreadable;
    port.start();
  },
  post: (command) => port.postMessage(command),
  close() {
    port.onmessage = null;
    port.close();
  },
});
