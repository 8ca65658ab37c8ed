/**
 * The page x time map and the working set, at any resolution, from accesses (page-accesses.ts,
 * storage-blocks.ts):
 *
 *   pages ^   . . R R . . .        a cell counts the reads and the writes of its pages in its time,
 *         |   W W . . W . .        and has the type that most of them had
 *         +------------------> time
 */
import { longer } from '../../trace/typed-arrays.ts';
import { Access, type Accesses } from './accesses.ts';
import { Slots } from '../core/slots.ts';

export interface MatrixRequest {
  /** Index in Accesses.objects. */
  object: number;
  /** [fromUs, toUs) */
  fromUs: number;
  toUs: number;
  timeBins: number;
  /** Places [fromPlace, toPlace); default: all used ones. */
  fromPlace?: number;
  toPlace?: number;
  placeBins: number;
  /** Include what checkpoints move; default true. */
  checkpoints?: boolean;
}

/** Cells by `timeBin * placeBins + placeBin`. */
export interface PageMatrix extends Required<MatrixRequest> {
  reads: Uint32Array;
  writes: Uint32Array;
  /** The reads of pages that the connection had (rereads.ts); zeros without `again`. */
  rereads: Uint32Array;
  /** PageType of most accesses with a known type; 0 = none. */
  type: Uint8Array;
  /** Largest cell of both. */
  mostReads: number;
  mostWrites: number;
}

/** Page types that a cell counts: index and table, interior and leaf, and the pointer map. */
const TYPES = [2, 5, 10, 13, 3] as const;
const TYPE_AT = new Int8Array(256).fill(-1);
TYPES.forEach((type, i) => (TYPE_AT[type] = i));

/** @param again by access: 1 = read again (rereads.ts) */
export function pageMatrix(
  accesses: Accesses,
  request: MatrixRequest,
  again?: Uint8Array,
): PageMatrix {
  const { object, fromUs, toUs, timeBins, placeBins, checkpoints = true } = request;
  const { highest = 0, kind = 'main-db' } = accesses.objects[object] ?? {};
  const fromPlace = request.fromPlace ?? (kind === 'main-db' ? 1 : 0);
  const toPlace = request.toPlace ?? highest + 1;
  const cells = timeBins * placeBins;
  const reads = new Uint32Array(cells);
  const writes = new Uint32Array(cells);
  const rereads = new Uint32Array(cells);
  const types = new Uint32Array(cells * TYPES.length);
  const timeScale = toUs > fromUs ? timeBins / (toUs - fromUs) : 0;
  const placeScale = toPlace > fromPlace ? placeBins / (toPlace - fromPlace) : 0;
  for (let i = accesses.lowerBound(fromUs), to = accesses.lowerBound(toUs); i < to; i++) {
    if (accesses.object[i] !== object) continue;
    const what = accesses.what[i]!;
    if (!checkpoints && what & Access.checkpoint) continue;
    const time = Math.min(timeBins - 1, Math.floor((accesses.us[i]! - fromUs) * timeScale));
    const counts = what & Access.write ? writes : reads;
    const first = Math.max(fromPlace, accesses.place[i]!);
    const behind = Math.min(toPlace, accesses.place[i]! + accesses.span[i]!);
    const type = TYPE_AT[accesses.type[i]!]!;
    for (let place = first; place < behind; place++) {
      const cell =
        time * placeBins + Math.min(placeBins - 1, Math.floor((place - fromPlace) * placeScale));
      counts[cell]!++;
      if (again?.[i]) rereads[cell]!++;
      if (type >= 0) types[cell * TYPES.length + type]!++;
    }
  }
  const type = new Uint8Array(cells);
  let [mostReads, mostWrites] = [0, 0];
  for (let cell = 0; cell < cells; cell++) {
    mostReads = Math.max(mostReads, reads[cell]!);
    mostWrites = Math.max(mostWrites, writes[cell]!);
    let most = 0;
    for (let t = 0; t < TYPES.length; t++)
      if (types[cell * TYPES.length + t]! > most) {
        most = types[cell * TYPES.length + t]!;
        type[cell] = TYPES[t]!;
      }
  }
  const bins = { object, fromUs, toUs, timeBins, fromPlace, toPlace, placeBins, checkpoints };
  return { ...bins, reads, writes, rereads, type, mostReads, mostWrites };
}

interface WorkingSet {
  /** Distinct places read or written, by time bin. */
  distinct: Uint32Array;
  /** Those not touched in any earlier bin. */
  fresh: Uint32Array;
}

/** Working set of one object over [fromUs, toUs) in equal bins, without checkpoints. */
export function workingSet(
  accesses: Accesses,
  object: number,
  fromUs: number,
  toUs: number,
  bins: number,
): WorkingSet {
  const distinct = new Uint32Array(bins);
  const fresh = new Uint32Array(bins);
  const from = accesses.lowerBound(fromUs);
  const to = accesses.lowerBound(toUs);
  const slots = new Slots();
  /** Last bin + 1 by slot; 0 = not touched yet. */
  let last: Uint32Array = new Uint32Array(1024);
  const length = toUs > fromUs ? toUs - fromUs : Infinity;
  for (let i = from; i < to; i++) {
    if (accesses.object[i] !== object || accesses.what[i]! & Access.checkpoint) continue;
    const bin = Math.min(bins - 1, Math.floor(((accesses.us[i]! - fromUs) / length) * bins));
    for (let n = 0; n < accesses.span[i]!; n++) {
      const slot = slots.slot(accesses.place[i]! + n);
      last = longer(last, slot + 1);
      if (last[slot] === bin + 1) continue;
      distinct[bin]!++;
      if (last[slot] === 0) fresh[bin]!++;
      last[slot] = bin + 1;
    }
  }
  return { distinct, fresh };
}
