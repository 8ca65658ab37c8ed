/** How the drivers of apps wait. */

/** For what the page shows: tabs in the background draw no frames, so nothing waits for one. */
export const WAIT = { polling: 50, timeout: 20_000 };

/** Resolves once the app makes no more calls. */
export type Rest = () => Promise<void>;
