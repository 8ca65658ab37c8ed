/**
 * Limits of rules that both the analysis of a recording and the page's own counts (src/field) use.
 */

/** F53: one text was prepared again this many times. */
export const PREPARED_AGAIN = 20;
/** F06: this many SQLITE_BUSY answers in a row, at most this far apart. */
export const BUSY_BURST = { tries: 3, apartMs: 500 } as const;
/**
 * wa-sqlite repeats a call that answered SQLITE_BUSY this soon, or not at all
 * (event/engine-retry.ts).
 */
export const RETRIED_WITHIN_MS = 1000;
/**
 * If no other recorded thread held the lock, a request for it counts as a wait from this length on.
 * It takes a while even when the lock is free, and longer if the thread has just released what it
 * asks for. Above this limit another connection may hold it.
 */
export const UNSEEN_HOLDER_US = 10_000;
