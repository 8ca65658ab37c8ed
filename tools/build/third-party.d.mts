import type { Plugin } from 'rollup';

export const FILE: string;
/** The folder of the npm package that a module comes from; null = it is ours. */
export function packageFolder(id: string): string | null;
/** Names, versions, and license texts of these files' packages; '' = none. */
export function notices(modules: Iterable<string>): string;
/** Writes THIRD-PARTY.txt into each root, for everything bundled or copied below it. */
export function thirdParty(roots: string[], copied?: Record<string, string[]>): Plugin;
