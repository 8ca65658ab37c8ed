/** Folders of the build that become a package each. */
export const BROWSERS: string[];
/** Stores get neither source maps nor dot files. */
export function ships(path: string): boolean;
/** The files of a folder that ship, by path below it. */
export function filesOf(folder: string): [string, Buffer][];
/** The current sources, with build instructions. */
export function sources(): [string, Buffer][];
