/**
 * Lines to the threads of this page or worker. They use the original platform methods, not those
 * that the app or the hook has patched.
 */
import { dataOf, portClose, portListen, portPost, portsOf } from '../hooks/natives.ts';
import type { ThreadMessage } from '../protocol/messages.ts';
import type { Line } from '../viewer/session/line.ts';

/** The line behind this port. */
const portLine = (port: MessagePort): Line => ({
  listen: (onSaid) =>
    portListen(port, (event) => onSaid(dataOf(event), portsOf(event).map(portLine))),
  post: (command) => portPost(port, command),
  close: () => portClose(port),
});

/** The line to this thread itself. Its hook sends everything except its children synchronously. */
export class OwnLine implements Line {
  private heard: ((said: unknown, moved: readonly Line[]) => void) | null = null;
  private line: Line | null = null;
  /** Messages that arrived before anything listened. */
  private early: ThreadMessage[] = [];

  /** Its port, which reports children and takes commands. */
  connect(port: MessagePort): void {
    this.line = portLine(port);
    if (this.heard) this.line.listen(this.heard, () => {});
  }

  /** Receives the hook's messages: never throws. */
  readonly says = (message: ThreadMessage): void => {
    try {
      if (this.heard) this.heard(message, []);
      else this.early.push(message);
    } catch (e) {
      console.warn('vfscope: records were lost:', e);
    }
  };

  listen(onSaid: (said: unknown, moved: readonly Line[]) => void): void {
    this.heard = onSaid;
    this.line?.listen(onSaid, () => {});
    for (const message of this.early.splice(0)) this.says(message);
  }
  post: Line['post'] = (command) => this.line?.post(command);
  close: Line['close'] = () => this.line?.close();
}
