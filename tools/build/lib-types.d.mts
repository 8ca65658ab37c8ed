/**
 * Writes the declarations that a source file reaches below `out`, and `NAME.d.ts` next to that
 * folder.
 */
export function emitTypes(entry: string, out: string, name: string): void;
