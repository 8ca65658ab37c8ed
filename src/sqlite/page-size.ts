/** Bytes of a database's header, at the start of its first page. */
export const DATABASE_HEADER = 100;
/**
 * Where in the header the change counter, the page count, and the freelist's first trunk and length
 * are. A connection reads and compares them as one.
 */
export const [VERSION_AT, VERSION_BYTES] = [24, 16] as const;
/** Where in the header the page size is: two bytes, big-endian. */
export const PAGE_SIZE_AT = 16;
/** Bytes of SQLite's smallest page: anything shorter can't be a whole page. */
export const SMALLEST_PAGE = 512;
/** A page size that SQLite can have: a power of two from 512 to 65536. */
export const isPageSize = (n: number): boolean => n >= 512 && n <= 65536 && (n & (n - 1)) === 0;
