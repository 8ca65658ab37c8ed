/** Limits of rules that a recording's analysis and a page's own counts (src/field) share. */

/** F53: one text, prepared so many times again. */
export const PREPARED_AGAIN = 20;
/** F06: so many answers of SQLITE_BUSY, one after another, no further apart. */
export const BUSY_BURST = { tries: 3, apartMs: 500 } as const;
/** wa-sqlite makes a call that answered SQLITE_BUSY again this soon, or not at all (event/engine-retry.ts). */
export const RETRIED_WITHIN_MS = 1000;
/**
 * A request for a lock that no other recorded thread stood in the way of is a wait from this length on: it takes a while even when all is
 * free, and longer where the thread has just released what it asks for. From then on another connection on it may have it.
 */
export const UNSEEN_HOLDER_US = 10_000;
