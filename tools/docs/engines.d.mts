export function engineTable(
  recorded: Record<string, unknown>,
  versions: Record<string, string>,
): string;
export function currentTable(): string;
export function readmeTable(readme?: string): string;
