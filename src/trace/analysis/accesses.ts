/**
 * Reads and writes of numbered places: pages of a database, blocks of a store. One row per call in typed columns, in the order of
 * time, so that tables, maps, runs and stack distances need not look at events again.
 */

/** Bits of `Accesses.what`. */
export const Access = {
  /** A write; else a read. */
  write: 1,
  /** The page's image lies in the WAL, not in the database file. */
  wal: 2,
  /** Made by a checkpoint: copying, not asking for a page. */
  checkpoint: 4,
} as const;

/** How large a place is, and how that is known. */
export interface Unit {
  /** Bytes; null = not known, see `how`. */
  bytes: number | null;
  /** In words: where the size is from, or why it is not known. */
  how: string;
  /** Every call agrees with it. */
  certain: boolean;
}

export interface AccessedObject {
  path: string;
  kind: 'main-db' | 'opfs' | 'idb-store';
  /** Name of the VFS; '' where none was seen. */
  vfs: string;
  unit: Unit;
  /** Highest place used. Pages are numbered from 1, blocks from 0. */
  highest: number;
  /** Calls that could not be tied to a place: frames of a WAL whose header was not seen, keys that are no numbers, lengths of no file. */
  untied: number;
}

/** Who asks: a connection where it is known, else the thread and file. */
export interface Asker {
  /** Place in TraceStore.threads. */
  thread: number;
  /** Id of the connection on its thread; 0 = not known. */
  connection: number;
}

/**
 * Pages or blocks that one call may cover: 4 GiB of the largest pages, 256 MiB of the usual ones. SQLite itself moves a page at a time; a
 * whole file saved at once is the longest that apps do. A page can forge lengths: what claims more is tied to no place.
 */
export const MOST_SPAN = 1 << 16;
/** And all calls that cover several, beyond one each. */
export const MOST_SPANS = 1 << 22;

/**
 * Pages that `length` bytes at `offset` touch, the first from 1.
 * @returns no pages for what no transfer of SQLite's can be: an offset that is no place in a file, or more than MOST_SPAN pages
 */
export function pagesTouched(offset: number, length: number, pageBytes: number): { first: number; count: number } {
  const none = { first: 1, count: 0 };
  if (!(offset >= 0 && offset + length <= Number.MAX_SAFE_INTEGER && length > 0 && pageBytes > 0)) return none;
  const first = Math.floor(offset / pageBytes) + 1;
  const count = Math.floor((offset + length - 1) / pageBytes) + 2 - first;
  return count > MOST_SPAN ? none : { first, count };
}

export class Accesses {
  private spansLeft = MOST_SPANS;
  readonly objects: AccessedObject[] = [];
  readonly askers: Asker[] = [];
  count = 0;
  /** Begin, microseconds. */
  us: Float64Array;
  /** Place in `objects`. */
  object: Uint32Array;
  /** First page or block. */
  place: Float64Array;
  /** Pages or blocks in the call, at least 1. */
  span: Uint32Array;
  /** Bits of `Access`. */
  what: Uint8Array;
  /** Type of the b-tree page (PageType), 0 = not known. */
  type: Uint8Array;
  /** Bytes moved. */
  bytes: Uint32Array;
  /** Place in `askers`. */
  asker: Uint32Array;
  /** Place in TraceStore.threads, and the row there. */
  thread: Uint16Array;
  row: Uint32Array;

  constructor(private capacity = 1024) {
    this.us = new Float64Array(capacity);
    this.object = new Uint32Array(capacity);
    this.place = new Float64Array(capacity);
    this.span = new Uint32Array(capacity);
    this.what = new Uint8Array(capacity);
    this.type = new Uint8Array(capacity);
    this.bytes = new Uint32Array(capacity);
    this.asker = new Uint32Array(capacity);
    this.thread = new Uint16Array(capacity);
    this.row = new Uint32Array(capacity);
  }

  /** A new last row, all zeros. @returns its number */
  add(): number {
    if (this.count === this.capacity) this.grow();
    return this.count++;
  }

  /** Whether a call may cover so many places; see MOST_SPAN. To be asked once for each call, before `add`. */
  covers(span: number): boolean {
    if (!(span >= 1 && span <= MOST_SPAN && span - 1 <= this.spansLeft)) return false;
    this.spansLeft -= span - 1;
    return true;
  }

  /** First row that begins at or after `us`. */
  lowerBound(us: number): number {
    let lo = 0;
    let hi = this.count;
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if (this.us[mid]! < us) lo = mid + 1;
      else hi = mid;
    }
    return lo;
  }

  private grow(): void {
    this.capacity *= 2;
    const more = <T extends Float64Array | Uint32Array | Uint16Array | Uint8Array>(from: T): T => {
      const to = new (from.constructor as new (n: number) => T)(this.capacity);
      to.set(from);
      return to;
    };
    this.us = more(this.us);
    this.object = more(this.object);
    this.place = more(this.place);
    this.span = more(this.span);
    this.what = more(this.what);
    this.type = more(this.type);
    this.bytes = more(this.bytes);
    this.asker = more(this.asker);
    this.thread = more(this.thread);
    this.row = more(this.row);
  }
}

/** Gives places dense numbers from 0, in the order of their coming. An array where places lie close, a map for wild ones. */
export class Slots {
  count = 0;
  private readonly dense: Int32Array | null;
  private readonly sparse: Map<number, number> | null;

  /** @param highest place that will be asked for @param calls how many calls at most */
  constructor(highest: number, calls: number) {
    const close = highest < Math.min(1 << 24, Math.max(1 << 16, calls * 16));
    this.dense = close ? new Int32Array(highest + 1).fill(-1) : null;
    this.sparse = close ? null : new Map();
  }

  slot(place: number): number {
    const { dense, sparse } = this;
    if (dense) {
      const known = dense[place]!;
      return known >= 0 ? known : (dense[place] = this.count++);
    }
    let known = sparse!.get(place);
    if (known === undefined) sparse!.set(place, (known = this.count++));
    return known;
  }
}
