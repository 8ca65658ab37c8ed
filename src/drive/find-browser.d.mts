/** What to tell a user without a browser. */
export const HOW_TO_INSTALL: string;
/** Path of a Chromium or Chrome: $CHROMIUM, else the first of the usual places; null where there is none. */
export function findChromium(): string | null;
/** What to tell a user without a Firefox. */
export const HOW_TO_INSTALL_FIREFOX: string;
/** Path of a Firefox: $FIREFOX, else the first of the usual places; null where there is none. */
export function findFirefox(): string | null;
/** What to tell a user without WebKitGTK. */
export const HOW_TO_INSTALL_WEBKIT: string;
/** Path of WebKitGTK's MiniBrowser: $MINIBROWSER, else where distributions put it; null where there is none. */
export function findMiniBrowser(): string | null;
