/** Bytes of a database's header, at the beginning of its first page. */
export const DATABASE_HEADER = 100;
/** In it: change counter, pages, first trunk and number of pages of the freelist, which a connection reads and compares as one. */
export const [VERSION_AT, VERSION_BYTES] = [24, 16] as const;
/** In it: the page size, two bytes, big-endian. */
export const PAGE_SIZE_AT = 16;
/** Bytes of SQLite's smallest page: what is shorter is a part of one, or none. */
export const SMALLEST_PAGE = 512;
/** A page size that SQLite can have: a power of two from 512 to 65536. */
export const isPageSize = (n: number): boolean => n >= 512 && n <= 65536 && (n & (n - 1)) === 0;
