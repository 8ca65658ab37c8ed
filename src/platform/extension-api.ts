/**
 * The one door to the extension API: `browser` of webextension-polyfill, which our pages and the background load first. A recorded page
 * carries no polyfill, and there it is the browser's own. Typed as `chrome`: the polyfill's types lack what only Chromium has.
 */
export const api: typeof chrome = (globalThis as { browser?: typeof chrome }).browser ?? chrome;
