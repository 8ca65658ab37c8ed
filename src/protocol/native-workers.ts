/**
 * How `vfscope record` finds the new workers that need the hook: those that a realm follows but
 * doesn't wrap.
 */

/** Appended to the URL of a wrapped worker: it has the hook already. */
export const WRAPPED = '#vfscope';
/** Name of the symbol that holds a realm's `(url) => boolean`. */
export const NATIVES_KEY = 'vfscope.natives';
