/** How `vfscope record` knows which new workers need the hook: those that a realm follows, though they aren't wrapped. */

/** Behind the URL of a wrapped worker: it has the hook. */
export const WRAPPED = '#vfscope';
/** Name of the symbol under which a realm answers `(url) => boolean`. */
export const NATIVES_KEY = 'vfscope.natives';
