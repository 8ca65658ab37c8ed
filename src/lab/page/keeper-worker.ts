/** Keeps the trace of one run: takes the port as the viewer's store does, and makes a file of what came once the run has said bye. */
import { lineOf } from '../../viewer/session/line.ts';
import { ThreadPorts } from '../../viewer/session/thread-ports.ts';
import { TraceWriter } from '../../trace/file/write.ts';
import { TraceStore } from '../../trace/store.ts';
import type { FromKeeper, ToKeeper } from './messages.ts';

const post = (message: FromKeeper): void => self.postMessage(message);

self.onmessage = (event: MessageEvent<ToKeeper>): void => {
  const store = new TraceStore(performance.timeOrigin + performance.now());
  let written = false;
  const events = {
    onBatch: (): void => {},
    onThreads(): void {
      if (written || store.threads.length === 0 || store.threads.some((t) => t.ended === null))
        return;
      written = true;
      void write(store);
    },
    onProblem: (message: string): void => post({ k: 'failed', message }),
  };
  new ThreadPorts(store, events).attach(lineOf(event.ports[0]!));
};

async function write(store: TraceStore): Promise<void> {
  try {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    await new TraceWriter(
      store,
      { write: (bytes) => void parts.push(bytes) },
      { writer: 'vfscope lab', origin: 'lab' },
    ).finish();
    post({ k: 'kept', file: new Blob(parts), events: store.eventCount });
  } catch (error) {
    post({ k: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
}
