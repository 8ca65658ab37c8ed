export const ROOMS: Record<string, { imports: string[]; npm: string[]; node?: boolean }>;
