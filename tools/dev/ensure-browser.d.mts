/** Path of a Chromium; installs Debian's if there is none. Rejects with what to do. */
export function ensureChromium(): Promise<string>;
/**
 * Path of WebKitGTK's MiniBrowser, with a display server for it; null if it isn't available (not
 * Linux). Rejects with what to do.
 */
export function ensureWebKit(): Promise<string | null>;
/** The same for Firefox. */
export function ensureFirefox(): Promise<string>;
