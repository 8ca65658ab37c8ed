/** What the patches of a fault profile share. */
import type { FaultState } from './fault-state.ts';

/** What the patches of one API share. */
export interface Faults {
  readonly state: FaultState;
  /** false: the device works again. */
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
