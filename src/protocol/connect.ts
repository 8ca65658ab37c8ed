/**
 * Between `vfscope record --connect` and the script that it puts into an isolated world of each
 * document (content/over-cdp.ts): relay messages as JSON texts (json-wire.ts).
 */

/** Name of that world. */
export const CONNECT_WORLD = 'vfscope';
/**
 * Functions in that world: one that the script sends with (the browser's `Runtime.addBinding`), one
 * that it receives with, and one that ends it.
 */
export const CONNECT_SAY = 'vfscopeSay';
export const CONNECT_HEAR = 'vfscopeHear';
export const CONNECT_LEAVE = 'vfscopeLeave';
