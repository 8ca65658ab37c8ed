/**
 * How long locks have been seen. The browser doesn't report when a lock was taken, so its age is at least the time since it was first seen. A
 * lock that was released and taken again between two looks counts as one.
 */
import type { PageLock, PageState } from '../protocol/page-state.ts';

export interface SeenLock extends PageLock {
  state: 'held' | 'waiting';
  /** Milliseconds since it was first seen in this state: 0 = now. */
  seenMs: number;
  /** Looks at which it was seen, one after the other. */
  looks: number;
}

export class LockWatch {
  private seen = new Map<string, { firstMs: number; looks: number }>();

  /**
   * What is held and waiting now.
   * @param locks of one origin, always the same
   * @param nowMs by a clock that never goes back
   */
  look(locks: NonNullable<PageState['locks']>, nowMs: number): SeenLock[] {
    const before = this.seen;
    this.seen = new Map();
    const of = (state: SeenLock['state'], all: readonly PageLock[]): SeenLock[] =>
      all.map((lock) => {
        // one client can hold a shared lock several times
        let nth = 0;
        const keyOf = (): string => JSON.stringify([state, lock.mode, lock.client, lock.name, nth]);
        while (this.seen.has(keyOf())) nth++;
        const { firstMs, looks } = before.get(keyOf()) ?? { firstMs: nowMs, looks: 0 };
        this.seen.set(keyOf(), { firstMs, looks: looks + 1 });
        return { ...lock, state, seenMs: nowMs - firstMs, looks: looks + 1 };
      });
    return [...of('waiting', locks.pending), ...of('held', locks.held)];
  }
}
