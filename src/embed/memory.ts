/** A recording in the memory of its page or worker, until it is saved. */
import { forgetBlock, type Keep } from '../trace/retention.ts';
import { TraceStore } from '../trace/store.ts';
import { saveTrace } from '../trace/file/write.ts';
import type { Line } from '../viewer/session/line.ts';
import { unwatched, type ThreadPorts } from '../viewer/session/thread-ports.ts';
import type { Collector } from './collector.ts';

export class Memory implements Collector {
  private readonly store = new TraceStore(performance.timeOrigin + performance.now());
  private readonly threads: ThreadPorts;

  constructor(keep: Keep) {
    this.threads = unwatched(
      this.store,
      (text) => console.warn(`vfscope: ${text}`),
      ({ events: { t0, count } }) => void (count && forgetBlock(this.store, keep, t0[count - 1]!)),
    );
  }

  attach(line: Line): void {
    this.threads.attach(line);
  }

  stop(timeoutMs: number): Promise<void> {
    return this.threads.stop(timeoutMs);
  }

  async flush(): Promise<void> {} // it is, at once

  save(): Promise<Blob> {
    return saveTrace(this.store, { origin: location.origin });
  }
}
