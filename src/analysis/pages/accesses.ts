/**
 * Reads and writes of numbered places: pages of a database, or blocks of a store. One row per call
 * in typed columns, in order of time, so that tables, maps, runs, and stack distances needn't read
 * the events again.
 */
import type { Unit } from '../core/database-files.ts';
import { MOST_SPAN } from '../core/pages-touched.ts';
import { columns, lowerBound } from '../../trace/number-columns.ts';
import type { ThreadStore } from '../../trace/store.ts';

/** Bits of `Accesses.what`. */
export const Access = {
  /** A write; else a read. */
  write: 1,
  /** The page's image is in the WAL, not in the database file. */
  wal: 2,
  /** Made by a checkpoint: a copy, not a request for a page. */
  checkpoint: 4,
} as const;

export interface AccessedObject {
  path: string;
  kind: 'main-db' | 'opfs' | 'idb-store';
  /** Name of the VFS; '' if none was seen. */
  vfs: string;
  unit: Unit;
  /** Highest place used. Pages are numbered from 1, blocks from 0. */
  highest: number;
  /**
   * Calls without a known place: frames of a WAL whose header wasn't seen, keys that aren't
   * numbers, impossible lengths.
   */
  untied: number;
}

/** The origin of an access: a connection if it is known, else the thread and file. */
export interface Asker {
  /** Place in TraceStore.threads. */
  thread: number;
  /** Id of the connection on its thread; 0 = not known. */
  connection: number;
}

/** Maximum additional pages or blocks, in all calls that cover several; see MOST_SPAN. */
export const MOST_SPANS = 1 << 22;

/** While its numbers are small, a row takes 23 bytes. */
export class Accesses extends columns({
  /** Begin, microseconds. */
  us: Float64Array,
  /** Place in `objects`. */
  object: [Uint8Array, Uint32Array],
  /** First page or block. */
  place: [Uint32Array, Float64Array],
  /** Pages or blocks in the call, at least 1. */
  span: [Uint8Array, Uint32Array],
  /** Bits of `Access`. */
  what: Uint8Array,
  /** Type of the b-tree page (PageType), 0 = not known. */
  type: Uint8Array,
  /** Bytes moved. */
  bytes: [Uint16Array, Float64Array],
  /** Place in `askers`. */
  asker: [Uint8Array, Uint32Array],
  /** Place in TraceStore.threads, and the row there. */
  thread: [Uint8Array, Uint32Array],
  row: Uint32Array,
}) {
  private spansLeft = MOST_SPANS;
  readonly objects: AccessedObject[] = [];
  readonly askers: Asker[] = [];

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
    // not `add`, because code shared by all tables is slow, and this runs for every call
    if (this.count === this.capacity) this.reserve(1);
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
    // reading it back shows whether it fits
    if (this.object[i] !== object) this.set('object', i, object);
    if (this.place[i] !== place) this.set('place', i, place);
    if (this.span[i] !== span) this.set('span', i, span);
    if (this.bytes[i] !== bytes) this.set('bytes', i, bytes);
    if (this.asker[i] !== asker) this.set('asker', i, asker);
    if (this.thread[i] !== index) this.set('thread', i, index);
  }

  /**
   * Whether a call may cover this many places; see MOST_SPAN. Call it once for each call, before
   * `push`.
   */
  covers(span: number): boolean {
    if (!(span >= 1 && span <= MOST_SPAN && span - 1 <= this.spansLeft)) return false;
    this.spansLeft -= span - 1;
    return true;
  }

  /** First row that begins at or after `us`. */
  lowerBound(us: number): number {
    return lowerBound(this.us, us, this.count);
  }
}
