/** What the patches of a fault profile share. */
import type { Quota } from './quota.ts';

/** What a profile did. */
export interface FaultTally {
  flushes: number;
  handles: number;
  refused: number;
  overQuota: number;
}
/** What the patches of one API share. */
export interface Faults {
  readonly tally: FaultTally;
  /** false: the device works again. */
  readonly active: () => boolean;
  readonly slowFlushMs: number;
  /** From 1; 0 = none. */
  readonly refusedHandle: number;
  readonly quota: Quota | null;
  readonly opened: (handle: Closable) => void;
}
/** An access handle. */
export interface Closable {
  close(): void;
}
