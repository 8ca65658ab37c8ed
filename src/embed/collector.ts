/** Where a page or worker that records itself sends its recording. */
import type { Line } from '../viewer/session/line.ts';

export interface Collector {
  /** Take what the threads of this line send. */
  attach(line: Line): void;
  /**
   * Ask every thread for its remaining records and its end. Resolves when all of them have arrived,
   * or after `timeoutMs`.
   */
  stop(timeoutMs: number): Promise<void>;
  /** Resolves when everything that has arrived is in the trace. */
  flush(): Promise<void>;
  /** The `.vfst` file so far. @throws if the trace is stored elsewhere */
  save(): Promise<Blob>;
}
