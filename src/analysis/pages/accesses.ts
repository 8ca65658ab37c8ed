/**
 * Reads and writes of numbered places: pages of a database, blocks of a store. One row per call in typed columns, in the order of
 * time, so that tables, maps, runs and stack distances need not look at events again.
 */

import type { ThreadStore } from '../../trace/store.ts';

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
export function pagesTouched(
  offset: number,
  length: number,
  pageBytes: number,
): { first: number; count: number } {
  const none = { first: 1, count: 0 };
  if (!(offset >= 0 && offset + length <= Number.MAX_SAFE_INTEGER && length > 0 && pageBytes > 0))
    return none;
  const first = Math.floor(offset / pageBytes) + 1;
  const count = Math.floor((offset + length - 1) / pageBytes) + 2 - first;
  return count > MOST_SPAN ? none : { first, count };
}

type Whole = Uint8Array | Uint16Array | Uint32Array;
type Column = Whole | Float64Array;
const WIDER = new Map<unknown, new (from: Column) => Column>([
  [Uint8Array, Uint16Array],
  [Uint16Array, Uint32Array],
  [Uint32Array, Float64Array],
]);

/** Columns whose numbers are mostly small begin narrow, 23 bytes a row together, and are widened when a number comes that does not fit. */
export class Accesses {
  private spansLeft = MOST_SPANS;
  readonly objects: AccessedObject[] = [];
  readonly askers: Asker[] = [];
  count = 0;
  /** Begin, microseconds. */
  us: Float64Array;
  /** Place in `objects`. */
  object: Whole;
  /** First page or block. */
  place: Uint32Array | Float64Array;
  /** Pages or blocks in the call, at least 1. */
  span: Whole;
  /** Bits of `Access`. */
  what: Uint8Array;
  /** Type of the b-tree page (PageType), 0 = not known. */
  type: Uint8Array;
  /** Bytes moved. */
  bytes: Whole;
  /** Place in `askers`. */
  asker: Whole;
  /** Place in TraceStore.threads, and the row there. */
  thread: Whole;
  row: Uint32Array;

  constructor(private capacity = 1024) {
    this.us = new Float64Array(capacity);
    this.object = new Uint8Array(capacity);
    this.place = new Uint32Array(capacity);
    this.span = new Uint8Array(capacity);
    this.what = new Uint8Array(capacity);
    this.type = new Uint8Array(capacity);
    this.bytes = new Uint16Array(capacity);
    this.asker = new Uint8Array(capacity);
    this.thread = new Uint8Array(capacity);
    this.row = new Uint32Array(capacity);
  }

  /** A new last row, of a call; the other parameters are its columns, whole numbers. */
  push(
    { events, index }: ThreadStore,
    row: number,
    object: number,
    place: number,
    span: number,
    what: number,
    type: number,
    bytes: number,
    asker: number,
  ): void {
    if (this.count === this.capacity) this.grow();
    const i = this.count++;
    this.us[i] = events.t0[row]!;
    this.what[i] = what;
    this.type[i] = type;
    this.row[i] = row;
    this.object[i] = object;
    this.place[i] = place;
    this.span[i] = span;
    this.bytes[i] = bytes;
    this.asker[i] = asker;
    this.thread[i] = index;
    // what does not fit is told by reading it again
    if (this.object[i] !== object) this.widen('object', i, object);
    if (this.place[i] !== place) this.widen('place', i, place);
    if (this.span[i] !== span) this.widen('span', i, span);
    if (this.bytes[i] !== bytes) this.widen('bytes', i, bytes);
    if (this.asker[i] !== asker) this.widen('asker', i, asker);
    if (this.thread[i] !== index) this.widen('thread', i, index);
  }

  /** Whether a call may cover so many places; see MOST_SPAN. To be asked once for each call, before `push`. */
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

  private widen(
    name: 'object' | 'place' | 'span' | 'bytes' | 'asker' | 'thread',
    i: number,
    value: number,
  ): void {
    for (;;) {
      const wider = WIDER.get(this[name].constructor);
      if (!wider) return;
      const column = (this[name] = new wider(this[name]) as never) as Column;
      column[i] = value;
      if (column[i] === value) return;
    }
  }

  private grow(): void {
    this.capacity *= 2;
    const more = <T extends Column>(from: T): T => {
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
