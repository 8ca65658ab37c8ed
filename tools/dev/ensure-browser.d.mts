/** Path of a Chromium; installs Debian's where there is none. Rejects with what to do. */
export function ensureChromium(): Promise<string>;
/** Path of WebKitGTK's MiniBrowser, with a display server beside it; null where it cannot be (no Linux). Rejects with what to do. */
export function ensureWebKit(): Promise<string | null>;
/** The same for Firefox. */
export function ensureFirefox(): Promise<string>;
