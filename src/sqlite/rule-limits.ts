/** Limits of rules that a recording's analysis and a page's own counts (src/field) share. */

/** F53: one text, prepared so many times again. */
export const PREPARED_AGAIN = 20;
/** F06: so many answers of SQLITE_BUSY, one after another, no further apart. */
export const BUSY_BURST = { tries: 3, apartMs: 500 } as const;
/** A call that answered SQLITE_BUSY and is made again this soon is wa-sqlite's own: an app would have been told by then. */
export const RETRIED_WITHIN_MS = 1000;
