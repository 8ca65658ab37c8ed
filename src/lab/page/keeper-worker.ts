/**
 * Collects the trace of one run: receives the port as the viewer's store does, and makes a file
 * when the run has said bye.
 */
import { serve, type Channel } from '../../protocol/rpc.ts';
import { lineOf } from '../../viewer/session/line.ts';
import { ThreadPorts } from '../../viewer/session/thread-ports.ts';
import { TraceWriter } from '../../trace/file/write.ts';
import { TraceStore } from '../../trace/store.ts';

const methods = {
  /**
   * @returns the trace from the port, as a .vfst file
   * @throws Error with a message for the user where it isn't a trace
   */
  async keep(port: MessagePort): Promise<Blob> {
    const store = new TraceStore(performance.timeOrigin + performance.now());
    await new Promise<void>((resolve, reject) => {
      const events = {
        onBatch: (): void => {},
        onThreads(): void {
          if (store.threads.length > 0 && store.threads.every((t) => t.ended !== null)) resolve();
        },
        onProblem: (message: string): void => reject(new Error(message)),
      };
      new ThreadPorts(store, events).attach(lineOf(port));
    });
    const parts: Uint8Array<ArrayBuffer>[] = [];
    await new TraceWriter(
      store,
      { write: (bytes) => void parts.push(bytes) },
      { writer: 'vfscope lab', origin: 'lab' },
    ).finish();
    return new Blob(parts);
  },
};
export type KeeperWorker = typeof methods;
serve(self as unknown as Channel, methods);
