/** How the drivers of apps wait. */

/**
 * For what the page shows: tabs in the background draw no frames, so nothing waits for one. Long, since open DevTools have V8 run all
 * WebAssembly unoptimized: Actual's demo takes 12 s instead of 7, and 17 s recorded, on two cores.
 */
export const WAIT = { polling: 50, timeout: 60_000 };

/** Resolves once the app makes no more calls. */
export type Rest = () => Promise<void>;
