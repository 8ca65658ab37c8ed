/**
 * Exact LRU stack distances (Mattson 1970): for each request, how many distinct pages were used since the same page was last used,
 * itself included. A cache of n pages hits exactly the requests of distance <= n, for every n at once.
 *
 *   requests   a b c a b b d a
 *   distance   - - - 3 3 1 - 3        - = first use: every cache misses
 *
 * Pages lie on a time line at their last use; a Fenwick tree counts those behind a place. The line is short (twice the pages) and is
 * pushed together when it is full, so the tree stays in the processor's cache.
 */

/** Bits of `flags`. */
export const Reference = {
  /** Uses the page without asking for it: a write of a page that the cache holds. Moves it to the front, counts as no request. */
  touch: 1,
  /** Everything cached was thrown away just before: another connection changed the database. */
  emptied: 2,
} as const;

interface StackDistances {
  /** References that are requests. */
  requests: number;
  /** Requests that no cache can hit: the page's first use, or first since the cache was emptied. */
  cold: number;
  /** Requests by distance, from 1; [0] is 0. As long as the pages that were ever in the cache together + 1. */
  byDistance: Uint32Array;
}

/**
 * @param pages page of each reference, dense numbers below `distinct` @param flags bits of `Reference`, if any
 */
export function stackDistances(
  pages: Uint32Array,
  distinct: number,
  flags?: Uint8Array,
): StackDistances {
  let size = 1024;
  while (size < distinct * 2) size *= 2;
  const tree = new Int32Array(size + 1);
  /** Place on the line by page, from 1; 0 = not in the cache. */
  const lastAt = new Int32Array(distinct);
  const pageAt = new Int32Array(size + 1).fill(-1);
  const byDistance = new Uint32Array(distinct + 1);
  let [next, held, cold, requests] = [1, 0, 0, 0];
  /** What lies before `base` was thrown away: `stale` places that the tree still counts. */
  let [base, stale] = [1, 0];
  for (let i = 0; i < pages.length; i++) {
    const page = pages[i]!;
    const flag = flags ? flags[i]! : 0;
    if (flag & Reference.emptied && held) {
      stale += held;
      held = 0;
      base = next;
    }
    if (next > size) {
      next = compact(tree, pageAt, lastAt, size, base);
      base = 1;
      stale = 0;
    }
    const before = lastAt[page]!;
    const cached = before >= base;
    if (cached && before === next - 1) {
      // used just now: nothing moves
      if (!(flag & Reference.touch)) {
        requests++;
        byDistance[1]!++;
      }
      continue;
    }
    if (cached) {
      if (!(flag & Reference.touch)) {
        let behind = held + stale;
        for (let at = before; at > 0; at &= at - 1) behind -= tree[at]!;
        requests++;
        byDistance[behind + 1]!++;
      }
    } else {
      held++;
      if (before) stale--;
      if (!(flag & Reference.touch)) {
        requests++;
        cold++;
      }
    }
    if (before) {
      for (let at = before; at <= size; at += at & -at) tree[at]!--;
      pageAt[before] = -1;
    }
    for (let at = next; at <= size; at += at & -at) tree[at]!++;
    pageAt[next] = page;
    lastAt[page] = next++;
  }
  return { requests, cold, byDistance };
}

/** Push the pages from `base` on together at the line's begin, forget those before. @returns the next free place */
function compact(
  tree: Int32Array,
  pageAt: Int32Array,
  lastAt: Int32Array,
  size: number,
  base: number,
): number {
  let next = 1;
  for (let at = 1; at <= size; at++) {
    const page = pageAt[at]!;
    if (page < 0) continue;
    pageAt[at] = -1;
    if (at < base) {
      lastAt[page] = 0;
      continue;
    }
    pageAt[next] = page;
    lastAt[page] = next++;
  }
  // a tree over ones up to `next`
  for (let at = 1; at <= size; at++)
    tree[at] = Math.max(0, Math.min(at, next - 1) - (at - (at & -at)));
  return next;
}
