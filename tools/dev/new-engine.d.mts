export function folderOf(name: string): string;
export function scaffold(root: string, name: string): string[];
