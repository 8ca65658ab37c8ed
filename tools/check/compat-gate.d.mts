export interface Fault {
  /**
   * `manifest.permissions.downloads`, `api.tabs.get`, `Promise.withResolvers`, or an unexpected
   * file.
   */
  key: string;
  browser: 'chrome' | 'firefox' | 'safari';
  cause: string;
  /** File and line. */
  where: string;
}
export interface Waiver {
  key: string;
  browsers: Fault['browser'][];
  reason: string;
}
/**
 * What a built folder uses and the oldest browser that its manifest admits lacks; each key once,
 * without waivers.
 */
export function faultsIn(folder: string, browser: Fault['browser']): Fault[];
/** For people: faults without a waiver, and waivers without a fault. */
export function judge(faults: readonly Fault[], waivers: readonly Waiver[]): string[];
