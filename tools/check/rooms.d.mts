export const ROOMS: Record<
  string,
  { imports: string[]; types?: string[]; npm: string[]; node?: boolean }
>;
