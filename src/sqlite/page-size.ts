/** Bytes of SQLite's smallest page: what is shorter is a part of one, or none. */
export const SMALLEST_PAGE = 512;
/** A page size that SQLite can have: a power of two from 512 to 65536. */
export const isPageSize = (n: number): boolean => n >= 512 && n <= 65536 && (n & (n - 1)) === 0;
