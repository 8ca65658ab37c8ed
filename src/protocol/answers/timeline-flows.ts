/** Questions and answers about arrows in the timeline. */
import type { EventRef } from '../../trace/store.ts';

export interface Flow {
  from: { lane: string; us: number };
  to: { lane: string; us: number };
  kind: 'io' | 'wait';
}

export interface Flows {
  flows: Flow[];
  /** I/O calls of the statement, those without an arrow included. */
  calls: number;
  /**
   * Threads that hold what the event waits for, the longest wait first: for how long, and the call
   * that took the lock.
   */
  holders: (EventRef & { title: string; resource: string; waitedUs: number })[];
  /**
   * Where the arrows lead: to the event's statement, to the statement's first call, or to the call
   * that blocks the event longest.
   */
  cause: EventRef | null;
  effect: EventRef | null;
}
