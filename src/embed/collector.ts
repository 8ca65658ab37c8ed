/** Where a recording goes that a page or worker makes of itself. */
import type { Line } from '../viewer/session/line.ts';

export interface Collector {
  /** Take what the threads of this line say. */
  attach(line: Line): void;
  /** Ask every thread for its rest and its end; resolves when all of it is here, or after `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>;
  /** Resolves when what has come until now is in the trace. */
  flush(): Promise<void>;
  /** The `.vfst` file so far. @throws where the trace is kept elsewhere */
  save(): Promise<Blob>;
}
