/** Questions and answers of the tracks in the Locks view. */
import type { ResourceKind } from '../../analysis/locks/lock-columns.ts';

export interface LockLane {
  /** `thread:resource`, places in the trace's threads and in the analysis' resources. */
  key: string;
  thread: number;
  threadTitle: string;
  /** The page, or whatever else has no parent, that the thread belongs to. */
  root: number;
  kind: ResourceKind;
  name: string;
  origin: string;
  holds: number;
  waits: number;
  /** Sums over its holds and waits, microseconds. */
  heldUs: number;
  waitedUs: number;
  /** A known thread waited for it here, or it waited here for a known thread. */
  contended: boolean;
  /** Key of the lane of the pool that its access handle is in (LocksAnswer.pools); '' = in none. */
  pool: string;
  /** Of the lane of a pool: its access handles; else 0. */
  handles: number;
}

/** Holds and waits of a lane on screen, column by column. */
export interface LockTrack {
  key: string;
  /** Microseconds. */
  from: Float64Array;
  to: Float64Array;
  /** How much of the span is covered by what was joined in it, microseconds. */
  covered: Float64Array;
  /** 1 = a wait, 0 = a hold. */
  wait: Uint8Array;
  /** SQLite's lock level; of other kinds 1 = shared, 4 = exclusive. The strongest where several are joined. */
  mode: Uint8Array;
  /** Outcome of lock-columns.ts; the worst where several are joined. */
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
