/**
 * Exact LRU stack distances (Mattson 1970): for each use of a page, how many distinct pages were
 * used since its last use, itself included. A cache of n pages has exactly the pages of distance <=
 * n, for every n.
 *
 *   used       a b c a b b d a
 *   distance   - - - 3 3 1 - 3        - = first use: every cache misses
 *
 * Each page has a bit on a timeline, at its last use. A Fenwick tree counts the bits after a word
 * of 32 places. The timeline is short (at most four times the pages) and is compacted when full, so
 * that both stay in the processor's cache.
 */
import { longer } from '../../trace/typed-arrays.ts';

/** Initial places of the timeline; its length is always a power of 2. */
const SHORTEST = 1024;
/** A word has 2 ** 5 places. */
const WORD = 5;
const IN_WORD = (1 << WORD) - 1;

export class StackDistances {
  /** Pages used since the beginning, or since all were dropped. */
  held = 0;
  private size = SHORTEST;
  /** Places at which a page is; the first one isn't used. */
  private bits = new Int32Array(SHORTEST >> WORD);
  /** Over the words, from 1. */
  private tree = new Int32Array((SHORTEST >> WORD) + 1);
  private pageAt = new Int32Array(SHORTEST).fill(-1);
  /** Place on the timeline by page; 0 = none. */
  private lastAt: Int32Array = new Int32Array(16);
  private next = 1;
  /** Everything before `base` was dropped: `stale` places that the tree still counts. */
  private base = 1;
  private stale = 0;

  /** Drop all pages. */
  empty(): void {
    this.stale += this.held;
    this.held = 0;
    this.base = this.next;
  }

  /** @param page numbers are close to 0 @returns the distance; 0 = no cache has the page */
  use(page: number): number {
    if (this.next === this.size) this.compact();
    if (page >= this.lastAt.length) this.lastAt = longer(this.lastAt, page + 1);
    const { lastAt, next } = this;
    const before = lastAt[page]!;
    const cached = before >= this.base;
    if (cached && before === next - 1) return 1; // just used: nothing moves
    let distance = 0;
    if (cached) distance = this.held + this.stale + 1 - this.upTo(before);
    else {
      this.held++;
      if (before) this.stale--;
    }
    this.move(before, next);
    this.pageAt[before] = -1;
    this.pageAt[next] = page;
    lastAt[page] = next;
    this.next++;
    return distance;
  }

  /** Pages at a place or before it. */
  private upTo(place: number): number {
    const { bits, tree } = this;
    const word = place >> WORD;
    let pages = bitsIn(bits[word]! & ((2 << (place & IN_WORD)) - 1));
    for (let at = word; at > 0; at &= at - 1) pages += tree[at]!;
    return pages;
  }

  /** @param before 0 = the page isn't on the timeline yet */
  private move(before: number, next: number): void {
    const { bits, tree } = this;
    bits[next >> WORD]! |= 1 << (next & IN_WORD);
    let to = (next >> WORD) + 1;
    if (before === 0) {
      for (; to < tree.length; to += to & -to) tree[to]!++;
      return;
    }
    bits[before >> WORD]! ^= 1 << (before & IN_WORD);
    // the two paths up the tree meet; above that, their changes cancel out
    for (let from = (before >> WORD) + 1; from !== to;)
      if (from < to) {
        tree[from]!--;
        from += from & -from;
      } else {
        tree[to]!++;
        to += to & -to;
      }
  }

  /**
   * Move the pages from `base` on to the timeline's start, on a longer one if they fill half;
   * forget those before.
   */
  private compact(): void {
    const { lastAt, pageAt, base, size } = this;
    let next = 1;
    for (let at = 1; at < size; at++) {
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
      this.bits = new Int32Array(this.size >> WORD);
      this.tree = new Int32Array((this.size >> WORD) + 1);
      this.pageAt = longer(pageAt, this.size).fill(-1, size);
    }
    this.lie(next);
    this.next = next;
    this.base = 1;
    this.stale = 0;
  }

  /** Set pages at all places from 1 to `next`. */
  private lie(next: number): void {
    const { bits, tree } = this;
    bits.fill(-1, 0, next >> WORD).fill(0, next >> WORD);
    bits[next >> WORD] = (1 << (next & IN_WORD)) - 1;
    bits[0]! &= -2;
    const before = (word: number): number => Math.max(0, Math.min(word << WORD, next) - 1);
    for (let at = 1; at < tree.length; at++) tree[at] = before(at) - before(at - (at & -at));
  }
}

/** How many bits of a word are set. */
function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
