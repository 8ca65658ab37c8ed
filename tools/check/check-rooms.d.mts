export function faultsOf(root: string, files: string[], read: (path: string) => string): string[];
export function unusedArrows(
  root: string,
  files: string[],
  read: (path: string) => string,
): string[];
export function listSources(root: string): string[];
