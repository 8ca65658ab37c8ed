/** The one door to the extension API: Firefox and Safari call it `browser`, Chromium `chrome`; all answer promises. */
export const api: typeof chrome = (globalThis as { browser?: typeof chrome }).browser ?? chrome;
