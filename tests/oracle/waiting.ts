/** How the drivers of apps wait for conditions. */

/**
 * For content of pages: background tabs draw no frames, so nothing waits for one. The timeout is
 * long because open DevTools make V8 run all WebAssembly unoptimized: Actual's demo takes 12 s
 * instead of 7, and 17 s recorded, on two cores.
 */
export const WAIT = { polling: 50, timeout: 60_000 };

/** Resolves once the app makes no more calls. */
export type Rest = () => Promise<void>;
