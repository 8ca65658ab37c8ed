/** How `vfscope record` asks a realm which of its workers need the hook, though they aren't wrapped. */

/** Name of the symbol under which a realm answers `(url) => boolean`. */
export const NATIVES_KEY = 'vfscope.natives';
