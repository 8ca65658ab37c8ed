/** Writes the declarations that a source file reaches below `out`, and `vfs.d.ts` beside that folder. */
export function emitTypes(entry: string, out: string): void;
