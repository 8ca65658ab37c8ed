/**
 * How long locks have been seen. Browsers don't report when a lock was taken. A lock that was
 * released and taken again between two looks counts as one, so the time is "seen for", not "held
 * for". After a gap between looks, counting restarts.
 */
import type { PageLock, PageState } from '../protocol/page-state.ts';

export interface SeenLock extends PageLock {
  state: 'held' | 'waiting';
  /** Milliseconds since it was first seen in this state: 0 = just seen. */
  seenMs: number;
  /** Consecutive looks that saw it. */
  looks: number;
}

/**
 * Looks that are more than this many intervals apart aren't consecutive: a hidden view doesn't
 * look.
 */
const GAP = 3;

export class LockWatch {
  private seen = new Map<string, { firstMs: number; looks: number }>();
  private lastMs = 0;

  /** @param everyMs time between two looks */
  constructor(private readonly everyMs: number) {}

  /**
   * What is held and waiting.
   * @param locks of one origin, always the same
   * @param nowMs by a monotonic clock
   */
  look(locks: NonNullable<PageState['locks']>, nowMs: number): SeenLock[] {
    if (nowMs - this.lastMs > GAP * this.everyMs) this.seen.clear();
    this.lastMs = nowMs;
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
