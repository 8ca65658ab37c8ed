/** Which pages a call touches, and how many it may touch. */

/**
 * Maximum pages or blocks of one call: 4 GiB of the largest pages, 256 MiB of the usual ones.
 * SQLite itself moves one page at a time; apps' longest calls save a whole file. A page can forge
 * lengths, so longer calls aren't assigned to pages.
 */
export const MOST_SPAN = 1 << 16;

/**
 * Pages that `length` bytes at `offset` touch, numbered from 1.
 * @returns no pages for an impossible transfer: an offset that isn't a position in a file, or more
 * than MOST_SPAN pages
 */
export function pagesTouched(
  offset: number,
  length: number,
  pageBytes: number,
): { first: number; count: number } {
  if (!(offset >= 0 && offset + length <= Number.MAX_SAFE_INTEGER && length > 0 && pageBytes > 0))
    return { first: 1, count: 0 };
  const first = Math.floor(offset / pageBytes) + 1;
  const count = Math.floor((offset + length - 1) / pageBytes) + 2 - first;
  return count > MOST_SPAN ? { first: 1, count: 0 } : { first, count };
}
