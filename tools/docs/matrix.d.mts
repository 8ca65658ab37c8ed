export const BROWSERS: string[];
/** Cells that no test stands behind. `read` answers null where there is no such file. */
export function faults(read: (file: string) => string | null, features?: unknown[]): string[];
/** The table as the tests make it. */
export function currentMatrix(): string;
/** The table as the README has it. */
export function readmeMatrix(): string;
/** A file of the repository. */
export function readOrNull(file: string): string | null;
