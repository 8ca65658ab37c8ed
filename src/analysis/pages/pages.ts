/**
 * By database and page (or by store and block): how often it was read, read again, and written,
 * when, and its type.
 *
 *   time     ---->          R read   r read again: this connection had the page, and no other connection has written it since
 *   page 7   R   r   W r    the last read is one again: SQLite had dropped its own page
 *   page 8   R   w   R      w = another connection writes: that read had to be
 *
 * Reads and writes of checkpoints, and those in the WAL, are counted separately.
 */
import { columns } from '../../trace/number-columns.ts';
import { Access, type Accesses, type AccessedObject } from './accesses.ts';
import { fact } from '../core/graph.ts';
import { accesses } from './page-accesses.ts';
import { Holders } from './rereads.ts';
import { Slots } from '../core/slots.ts';
import type { TimeRange } from '../time/time-partition.ts';

const COLUMNS = {
  /** Page number from 1, or block number from 0. */
  place: Float64Array,
  /** Reads from the file, and from the WAL, without those of checkpoints. */
  reads: Uint32Array,
  walReads: Uint32Array,
  /** Of both: the connection had it, and no other connection has written it since. */
  rereads: Uint32Array,
  writes: Uint32Array,
  walWrites: Uint32Array,
  /** Frames read and pages written by checkpoints. */
  checkpointReads: Uint32Array,
  checkpointWrites: Uint32Array,
  readBytes: Float64Array,
  writeBytes: Float64Array,
  /** Last known type (PageType), 0 = not known. */
  type: Uint8Array,
  /** Begin of the first and of the last access, microseconds. */
  firstUs: Float64Array,
  lastUs: Float64Array,
} as const;
const NAMES = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];
class Places extends columns(COLUMNS) {}
/** Columns by touched place, ascending. */
export type PlaceColumns = Pick<Places, 'count' | keyof typeof COLUMNS>;

export interface ObjectPages extends AccessedObject {
  /** Index in Accesses.objects. */
  index: number;
  /** Sums over the places. */
  reads: number;
  rereads: number;
  writes: number;
  checkpointReads: number;
  checkpointWrites: number;
  readBytes: number;
  writeBytes: number;
  /**
   * Accesses whose asker couldn't be stored (too many connections, see rereads.ts), so there may be
   * more repeated reads than `rereads`.
   */
  untold: number;
  /** Places read at least once, and written at least once, without checkpoints. */
  placesRead: number;
  placesWritten: number;
  /** Reads (including those in the WAL) per place read; null without reads. */
  readsPerPlace: number | null;
  places: PlaceColumns;
}

/** Tables of every database that has accesses, in the order of `accesses.objects`. */
export const pages = fact('pages', 'pages', { accesses }, (_, { accesses }) => placesOf(accesses));

/** The same for any accesses (storage-blocks.ts) within a range. */
export function placesOf(accesses: Accesses, range: TimeRange = {}): ObjectPages[] {
  const from = range.fromUs === undefined ? 0 : accesses.lowerBound(range.fromUs);
  const to = range.toUs === undefined ? accesses.count : accesses.lowerBound(range.toUs);
  const calls = new Uint32Array(accesses.objects.length);
  for (let i = from; i < to; i++) calls[accesses.object[i]!]!++;
  const found: ObjectPages[] = [];
  accesses.objects.forEach((object, index) => {
    if (calls[index]) found.push(new PlaceTable(object, index).take(accesses, from, to));
  });
  return found;
}

class PlaceTable {
  private readonly slots = new Slots();
  private readonly columns = new Places();
  private readonly holders = new Holders();

  constructor(
    private readonly object: AccessedObject,
    private readonly index: number,
  ) {}

  /** Accesses before `from` only determine what connections hold. */
  take(accesses: Accesses, from: number, to: number): ObjectPages {
    const { holders } = this;
    for (let i = 0; i < to; i++) {
      if (accesses.object[i] !== this.index) continue;
      const span = accesses.span[i]!;
      const what = accesses.what[i]!;
      for (let n = 0; n < span; n++) {
        const place = accesses.place[i]! + n;
        const slot = this.slots.slot(place);
        if (slot === this.columns.count) this.columns.firstUs[this.columns.add()] = NaN;
        this.columns.place[slot] = place;
        const copied = (what & Access.checkpoint) !== 0;
        const held =
          !copied && holders.access(accesses.asker[i]!, slot, i + 1, (what & Access.write) !== 0);
        if (i >= from)
          this.count(
            slot,
            what,
            held,
            accesses.us[i]!,
            accesses.bytes[i]! / span,
            accesses.type[i]!,
          );
      }
    }
    return this.result();
  }

  private count(
    slot: number,
    what: number,
    held: boolean,
    us: number,
    bytes: number,
    type: number,
  ): void {
    const c = this.columns;
    if (what & Access.write) {
      (what & Access.checkpoint ? c.checkpointWrites : what & Access.wal ? c.walWrites : c.writes)[
        slot
      ]!++;
      c.writeBytes[slot]! += bytes;
    } else {
      (what & Access.checkpoint ? c.checkpointReads : what & Access.wal ? c.walReads : c.reads)[
        slot
      ]!++;
      if (held) c.rereads[slot]!++;
      c.readBytes[slot]! += bytes;
    }
    if (type) c.type[slot] = type;
    if (Number.isNaN(c.firstUs[slot]!)) c.firstUs[slot] = us;
    c.lastUs[slot] = us;
  }

  private result(): ObjectPages {
    const c = this.columns;
    const used: number[] = [];
    for (let slot = 0; slot < c.count; slot++) if (!Number.isNaN(c.firstUs[slot]!)) used.push(slot);
    used.sort((a, b) => c.place[a]! - c.place[b]!);
    const places = new Places(used.length);
    places.count = used.length;
    for (const name of NAMES) used.forEach((slot, i) => (places[name][i] = c[name][slot]!));
    const sum = (column: ArrayLike<number>): number => {
      let total = 0;
      for (let i = 0; i < places.count; i++) total += column[i]!;
      return total;
    };
    let [placesRead, placesWritten] = [0, 0];
    for (let i = 0; i < places.count; i++) {
      if (places.reads[i]! + places.walReads[i]! > 0) placesRead++;
      if (places.writes[i]! + places.walWrites[i]! > 0) placesWritten++;
    }
    const reads = sum(places.reads) + sum(places.walReads);
    return {
      ...this.object,
      index: this.index,
      reads,
      rereads: sum(places.rereads),
      untold: this.holders.untold,
      writes: sum(places.writes) + sum(places.walWrites),
      checkpointReads: sum(places.checkpointReads),
      checkpointWrites: sum(places.checkpointWrites),
      readBytes: sum(places.readBytes),
      writeBytes: sum(places.writeBytes),
      placesRead,
      placesWritten,
      readsPerPlace: placesRead ? reads / placesRead : null,
      places,
    };
  }
}
