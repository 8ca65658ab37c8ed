/** Questions and answers of the tracks in the Locks view. */
import type { ResourceKind } from '../../analysis/locks/lock-columns.ts';

export interface LockLane {
  /** `thread:resource`, places in the trace's threads and in the analysis' resources. */
  key: string;
  thread: number;
  threadTitle: string;
  /** The page that the thread belongs to, or another thread without a parent. */
  root: number;
  kind: ResourceKind;
  name: string;
  origin: string;
  holds: number;
  waits: number;
  /** Sums over its holds and waits, microseconds. */
  heldUs: number;
  waitedUs: number;
  /** A known thread waited here for this one, or this one waited here for a known thread. */
  contended: boolean;
  /** Key of the pool's lane that holds its access handle (LocksAnswer.pools); '' = in no pool. */
  pool: string;
  /** For the lane of a pool: its number of access handles; else 0. */
  handles: number;
}

/** Holds and waits of a lane on screen, column by column. */
export interface LockTrack {
  key: string;
  /** Microseconds. */
  from: Float64Array;
  to: Float64Array;
  /** How much of the span the joined holds and waits cover, microseconds. */
  covered: Float64Array;
  /** 1 = a wait, 0 = a hold. */
  wait: Uint8Array;
  /**
   * SQLite's lock level; for other kinds 1 = shared, 4 = exclusive. The strongest level of those
   * joined.
   */
  mode: Uint8Array;
  /** Outcome, as in lock-columns.ts; the worst of those joined. */
  outcome: Uint8Array;
  count: Uint32Array;
  /** First event's sequence number. */
  seq: Uint32Array;
}

export interface FrameArgs {
  /** Microseconds. */
  from: number;
  to: number;
  /** Pixel columns. */
  width: number;
  /** Keys of lanes. */
  lanes: string[];
}
