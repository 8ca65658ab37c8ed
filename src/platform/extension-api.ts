/**
 * The only access to the extension API: `browser` of webextension-polyfill, which our pages and the
 * background load first. Chromium before 152 has no `browser` where there is a DevTools page. A
 * recorded page has no polyfill and uses the browser's own API. Typed as `chrome`, because the
 * polyfill's types lack Chromium-only APIs.
 */
export const api: typeof chrome = (globalThis as { browser?: typeof chrome }).browser ?? chrome;
