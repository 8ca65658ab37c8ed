/** The message for a user without a browser. */
export const HOW_TO_INSTALL: string;
/** Path of a Chromium or Chrome: $CHROMIUM, else the first of the usual locations; null = none. */
export function findChromium(): string | null;
/** The message for a user without Firefox. */
export const HOW_TO_INSTALL_FIREFOX: string;
/** Path of a Firefox: $FIREFOX, else the first of the usual locations; null = none. */
export function findFirefox(): string | null;
/** The message for a user without WebKitGTK. */
export const HOW_TO_INSTALL_WEBKIT: string;
/**
 * Path of WebKitGTK's MiniBrowser: $MINIBROWSER, else where distributions install it; null = none.
 */
export function findMiniBrowser(): string | null;
