/** A way to a thread of a page, as the store's worker sees it: the thread's port itself, or the port behind the journal. */
import type { ThreadCommand } from '../../protocol/messages.ts';

export interface Line {
  /**
   * Hear what the thread says. Once.
   * @param moved lines that came with it @param onUnreadable something came that can't be read
   */
  listen(onSaid: (said: unknown, moved: readonly Line[]) => void, onUnreadable: () => void): void;
  post(command: ThreadCommand): void;
  /** Nothing is heard from now on. */
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
