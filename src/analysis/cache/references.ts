/**
 * The pages that one connection requests from one database, in order of time, and how large a cache
 * each read needs to be a hit.
 *
 *   read 7      hits (counted, which pages is not known)      read 7 again: not held any more
 *   |<------------- pages used in between --------------->|
 *                = distinct pages that were read or written, and pages that were hit
 *
 * Pages that were hit are not known. They can't be more than the hits that the engine counted in
 * between, nor more than the cache held when 7 was last there. They are also among the pages that
 * were ever used. So each read has a minimum and a maximum. Without hits, both are exactly the LRU
 * stack distance. Pages that a transaction has changed stay in the cache until it ends, so they are
 * added.
 */
import type { ThreadStore } from '../../trace/store.ts';
import { lowerBound } from '../../trace/number-columns.ts';
import { longer } from '../../trace/typed-arrays.ts';
import { Slots } from '../core/slots.ts';
import { Access, type Accesses } from '../pages/accesses.ts';
import { Evidence } from '../rules/context.ts';
import { MOST_PAGES, type CacheSize } from './cache-size.ts';
import { Scans } from './scans.ts';
import { StackDistances } from './stack-distance.ts';

/**
 * The last write to a database, and the last one by another connection than its writer; -1 = none.
 */
export interface Writes {
  asker: number;
  at: number;
  othersAt: number;
}

/** What else is known about a connection and a database; rows of its thread, ascending. */
export interface Surroundings {
  /**
   * Rows at which its cache was empty: it was opened, or found a changed change counter in the
   * file.
   */
  emptied: readonly number[];
  /** Readings of the engine's counters: rows, and the hits until then. Empty if there are none. */
  readings: { row: readonly number[]; hits: readonly number[] };
  /** First and last rows of its write transactions. */
  transactions: { begin: readonly number[]; end: readonly number[] };
  /** Each PRAGMA cache_size. */
  sizes: readonly { row: number; value: string }[];
  /** The database's length in its headers: microseconds, pages. */
  lengths: { us: Float64Array; pages: Uint32Array };
}

/** How many pages a cache must hold so that reads are hits. */
interface Needs {
  /**
   * For each repeated read that a larger cache can avoid, so without pages that fit into the cache.
   */
  pages: Uint32Array;
  /** Maximum pages that the recording's cache held. */
  cache: number;
  /** It is a guess, because no call shows it. */
  assumed: boolean;
}

const UNKNOWN = 0xffffffff;
/**
 * Share of the reads that may be repeated for another reason than the cache's size, and how many
 * are examined.
 */
const FEW = 0.05;
const SAMPLE = 1 << 16;

/** The number that only a few are below; UNKNOWN if there are too few in all. */
function low(numbers: Uint32Array, count: number): number {
  if (count * FEW < 1) return UNKNOWN;
  const stride = Math.ceil(count / SAMPLE);
  const sample = Uint32Array.from(
    { length: Math.floor(count / stride) },
    (_, i) => numbers[i * stride]!,
  );
  return sample.sort()[Math.floor(sample.length * FEW)]!;
}

export class References {
  /** Page reads, and those that every cache misses. */
  requests = 0;
  cold = 0;
  readonly slots = new Slots();
  /** Reads of pages that a cache could have held. */
  readonly again = new Evidence();
  readonly scans = new Scans();
  /** A page was requested three times or more without a write in between. */
  hot = false;
  /** Distinct pages of the transaction that wrote most. */
  mostDirty = 0;
  /** For each repeated read: minimum and maximum pages that a cache must hold. */
  private least = new Uint32Array(16);
  private most = new Uint32Array(16);
  private count = 0;
  private readonly stack = new StackDistances();
  /** By page: reads since it was loaded or written. */
  private asked: Uint8Array = new Uint8Array(16);
  /** By page: hits of the connection that were counted before its last use. */
  private hitsAt: Float64Array = new Float64Array(16);
  /** By page: the transaction that wrote it last. */
  private dirtiedBy: Uint32Array = new Uint32Array(16);
  /** The access at which it was last here; -1 = not yet. */
  private lastAt = -1;
  /** Next indices in `around`. */
  private emptied = 0;
  private reading = 0;
  private transaction = 0;
  /**
   * Whether a write transaction is open, the pages that it has written, and its first index in
   * `least`.
   */
  private writing = false;
  private dirty = 0;
  private from = 0;
  /** Row of the last PRAGMA cache_size, and the first index in `least` after it. */
  private readonly sizedAt: number;
  private sizedFrom = 0;
  /**
   * The recording saw every page of the cache being loaded: at this moment, and from the first call
   * on.
   */
  private whole = false;
  private always = false;
  /**
   * Pages of the database before the connection wrote; Infinity = it hasn't. Pages after them that
   * were seen, and the last of these.
   */
  private before = Infinity;
  private appended = 0;
  private end = 0;

  constructor(
    readonly object: number,
    readonly asker: number,
    private readonly thread: ThreadStore,
    readonly around: Surroundings,
  ) {
    this.sizedAt = around.sizes.at(-1)?.row ?? -1;
  }

  /** Take the access `i`, in order of time. @param last writes to the database so far */
  take({ what, place, span, row: rows, us }: Accesses, i: number, last: Writes): void {
    const row = rows[i]!;
    const write = (what[i]! & Access.write) !== 0;
    if (write && this.before === Infinity) this.beginsToWrite(us[i]!);
    this.pass(row, last.asker === this.asker ? last.othersAt : last.at);
    let held = false;
    for (let page = place[i]!, end = page + span[i]!; page < end; page++)
      held = this.use(this.slotOf(page), write) || held;
    this.lastAt = i;
    if (!this.writing) this.from = this.count;
    if (row < this.sizedAt) this.sizedFrom = this.count;
    if (!write) {
      const { thread } = this;
      if (held) this.again.add(thread, row);
      this.scans.read(thread, row, place[i]!, span[i]!, !held);
      return;
    }
    if (last.asker !== this.asker) {
      last.othersAt = last.at;
      last.asker = this.asker;
    }
    last.at = i;
  }

  private slotOf(page: number): number {
    const { slots } = this;
    const { count } = slots;
    const slot = slots.slot(page);
    if (page > this.before) {
      this.end = Math.max(this.end, page);
      if (slot === count) this.appended++;
    }
    return slot;
  }

  private beginsToWrite(us: number): void {
    const { lengths } = this.around;
    this.before = lengths.pages[lowerBound(lengths.us, us, lengths.us.length) - 1] ?? 0;
    if (this.before === 0) this.appended = this.slots.count;
  }

  /** Apply what happened until a row. @param foreign the last write of another connection */
  private pass(row: number, foreign: number): void {
    const { emptied, readings, transactions } = this.around;
    let empty = this.lastAt >= 0 && foreign > this.lastAt;
    for (; this.emptied < emptied.length && emptied[this.emptied]! < row; this.emptied++)
      empty = true;
    if (empty) {
      this.stack.empty();
      this.whole = true;
      this.always ||= this.lastAt < 0;
    }
    while (this.reading < readings.row.length && readings.row[this.reading]! < row) this.reading++;
    const { begin, end } = transactions;
    while (this.transaction < end.length && end[this.transaction]! < row) this.endTransaction();
    this.writing = this.transaction < begin.length && begin[this.transaction]! <= row;
  }

  /** @returns whether a cache that holds everything had the page */
  private use(slot: number, write: boolean): boolean {
    if (slot >= this.asked.length) {
      this.asked = longer(this.asked, slot + 1);
      this.hitsAt = longer(this.hitsAt, slot + 1);
      this.dirtiedBy = longer(this.dirtiedBy, slot + 1);
    }
    const distance = this.stack.use(slot);
    if (distance === 0 || write) this.asked[slot] = 0;
    if (write) this.write(slot);
    else {
      this.requests++;
      if (!this.hot) this.hot = ++this.asked[slot]! === 3;
      if (distance === 0) this.cold++;
      else this.readAgain(slot, distance);
    }
    // an index outside of an array is slow to look up
    if (this.reading > 0) this.hitsAt[slot] = this.around.readings.hits[this.reading - 1]!;
    return distance > 0;
  }

  private write(slot: number): void {
    if (!this.writing || this.dirtiedBy[slot] === this.transaction + 1) return;
    this.dirtiedBy[slot] = this.transaction + 1;
    this.dirty++;
  }

  private readAgain(slot: number, distance: number): void {
    const i = this.count++;
    if (i >= this.least.length) {
      this.least = longer(this.least, i + 1);
      this.most = longer(this.most, i + 1);
    }
    const { hits } = this.around.readings;
    // no reading
    const since = this.reading < hits.length ? hits[this.reading]! - this.hitsAt[slot]! : -1;
    const counted = since >= 0 ? distance + since : UNKNOWN;
    const used = this.whole ? this.stack.held : UNKNOWN;
    this.least[i] = distance;
    this.most[i] = Math.max(distance, Math.min(counted, used, UNKNOWN));
  }

  /**
   * The maximum of pages that each repeated read needs in the cache.
   * @param size of the recording's cache @param exact there were no hits, so reads show everything
   */
  needs(size: CacheSize, exact: boolean): Needs {
    this.endTransaction();
    const { least, most, count } = this;
    // pages that a transaction appended and freed again are in the cache, too, but are never
    // written
    const gaps = Math.max(0, this.end - this.before - this.appended) || 0;
    const unseen = Math.min(gaps, this.slots.count); // a page can make up any number
    const few = low(most, count) + unseen;
    const shown = Math.min(few - 1, size.shown ? size.most : MOST_PAGES);
    const assumed = shown >= MOST_PAGES;
    const cache = assumed ? size.most : shown;
    const all = this.always ? this.slots.count + unseen : UNKNOWN;
    // what fit into the cache was dropped for another reason, such as a rollback in WAL mode; a
    // larger cache drops it, too
    const room = exact || assumed ? 0 : cache;
    const roomSet = exact ? 0 : Math.max(room, size.least);
    const pages = new Uint32Array(count);
    let needed = 0;
    for (let i = 0; i < count; i++)
      if (most[i]! + unseen > (i < this.sizedFrom ? room : roomSet))
        pages[needed++] = Math.min(Math.min(least[i]! + cache, most[i]!) + unseen, all);
    return { pages: pages.subarray(0, needed), cache, assumed };
  }

  /** The transaction's changed pages were in the cache during all its reads. */
  private endTransaction(): void {
    this.mostDirty = Math.max(this.mostDirty, this.dirty);
    if (this.dirty > 0)
      for (let i = this.from; i < this.count; i++) {
        this.least[i] = Math.min(UNKNOWN, this.least[i]! + this.dirty);
        this.most[i] = Math.min(UNKNOWN, this.most[i]! + this.dirty);
      }
    this.dirty = 0;
    this.from = this.count;
    this.transaction++;
  }
}
