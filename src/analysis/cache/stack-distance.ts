/**
 * Exact LRU stack distances (Mattson 1970): for each use of a page, how many distinct pages were used since the same page was last used,
 * itself included. A cache that holds n pages has exactly the pages of distance <= n, for every n at once.
 *
 *   used       a b c a b b d a
 *   distance   - - - 3 3 1 - 3        - = first use: every cache misses
 *
 * Pages lie on a time line at their last use; a Fenwick tree counts those behind a place. The line is short (at most four times the
 * pages) and is pushed together when it is full, so the tree stays in the processor's cache.
 */
import { longer } from '../../trace/typed-arrays.ts';

/** Places of the line at first. */
const SHORTEST = 1024;

export class StackDistances {
  /** Pages used since the beginning, or since all were thrown away. */
  held = 0;
  private size = SHORTEST;
  private tree = new Int32Array(SHORTEST + 1);
  private pageAt = new Int32Array(SHORTEST + 1).fill(-1);
  /** Place on the line by page, from 1; 0 = not there. */
  private lastAt: Int32Array = new Int32Array(16);
  private next = 1;
  /** What lies before `base` was thrown away: `stale` places that the tree still counts. */
  private base = 1;
  private stale = 0;

  /** All pages are thrown away. */
  empty(): void {
    this.stale += this.held;
    this.held = 0;
    this.base = this.next;
  }

  /** @param page numbers lie close to 0 @returns the distance; 0 = no cache has the page */
  use(page: number): number {
    if (this.next > this.size) this.compact();
    if (page >= this.lastAt.length) this.lastAt = longer(this.lastAt, page + 1);
    const { lastAt, pageAt, tree, size } = this;
    const before = lastAt[page]!;
    const cached = before >= this.base;
    if (cached && before === this.next - 1) return 1; // used just now: nothing moves
    let distance = 0;
    if (cached) {
      distance = this.held + this.stale + 1;
      for (let at = before; at > 0; at &= at - 1) distance -= tree[at]!;
    } else {
      this.held++;
      if (before) this.stale--;
    }
    if (before) {
      for (let at = before; at <= size; at += at & -at) tree[at]!--;
      pageAt[before] = -1;
    }
    for (let at = this.next; at <= size; at += at & -at) tree[at]!++;
    pageAt[this.next] = page;
    lastAt[page] = this.next++;
    return distance;
  }

  /** Push the pages from `base` on together at the line's begin, on a longer line where they fill half; forget those before. */
  private compact(): void {
    const { lastAt, pageAt, base, size } = this;
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
    if (2 * next > size) {
      this.size = size * 2;
      this.tree = new Int32Array(this.size + 1);
      this.pageAt = longer(pageAt, this.size + 1).fill(-1, size + 1);
    }
    // a tree over ones up to `next`
    for (let at = 1; at <= this.size; at++)
      this.tree[at] = Math.max(0, Math.min(at, next - 1) - (at - (at & -at)));
    this.next = next;
    this.base = 1;
    this.stale = 0;
  }
}
