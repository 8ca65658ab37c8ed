/** Folders of the build that become a package each. */
export const BROWSERS: string[];
/** Neither source maps nor dot files go to a store. */
export function ships(path: string): boolean;
/** What of a folder ships, by path below it. */
export function filesOf(folder: string): [string, Buffer][];
/** The sources as they are now, with build instructions. */
export function sources(): [string, Buffer][];
