/** Which pages a call touches, and how many it may. */

/**
 * Pages or blocks that one call may cover: 4 GiB of the largest pages, 256 MiB of the usual ones. SQLite itself moves a page at a time; a
 * whole file saved at once is the longest that apps do. A page can forge lengths: what claims more is tied to no place.
 */
export const MOST_SPAN = 1 << 16;

/**
 * Pages that `length` bytes at `offset` touch, the first from 1.
 * @returns no pages for what no transfer of SQLite's can be: an offset that isn't a place in a file, or more than MOST_SPAN pages
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
