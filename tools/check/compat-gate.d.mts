export interface Fault {
  /** `manifest.permissions.downloads`, `api.tabs.get`, `Promise.withResolvers`, or a file that does not belong. */
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
/** What in a built folder the oldest browser that its manifest admits lacks; each key once, without waivers. */
export function faultsIn(folder: string, browser: Fault['browser']): Fault[];
/** For people: faults that no waiver excuses, and waivers that excuse nothing. */
export function judge(faults: readonly Fault[], waivers: readonly Waiver[]): string[];
