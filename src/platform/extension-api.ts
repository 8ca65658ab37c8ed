/**
 * The one door to the extension API: `browser` of webextension-polyfill, which our pages and the background load first. Chromium before
 * 152 has no `browser` where there is a DevTools page. A recorded page carries no polyfill: there it is the browser's own API.
 * Typed as `chrome`: the polyfill's types lack what only Chromium has.
 */
export const api: typeof chrome = (globalThis as { browser?: typeof chrome }).browser ?? chrome;
