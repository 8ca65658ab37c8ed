/** The shared parts of a fault profile's patches. */
import type { FaultState } from './fault-state.ts';

/** The shared parts of one API's patches. */
export interface Faults {
  readonly state: FaultState;
  /** false: the faults are removed. */
  readonly active: () => boolean;
  readonly slowFlushMs: number;
  /** From 1; 0 = none. */
  readonly refusedHandle: number;
  /** Bytes; 0 = none. */
  readonly quota: number;
  readonly opened: (handle: Closable) => void;
}
/** An access handle. */
export interface Closable {
  close(): void;
}
