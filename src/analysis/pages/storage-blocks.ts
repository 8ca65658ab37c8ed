/**
 * Reads and writes of the blocks below a VFS: values of an IndexedDB store by key, positions in an
 * OPFS file by offset. A key is a block number or a byte offset, negative in some VFSs;
 * key-units.ts finds out which.
 */
import { getOrMake } from '../core/maps.ts';
import { Flag } from '../../event/event.ts';
import { bytesCarried } from '../../trace/bytes-moved.ts';
import { opTable } from '../../event/operations.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { Access, Accesses } from './accesses.ts';
import { fact } from '../core/graph.ts';
import { KeyUnits } from './key-units.ts';
import { eachRunInTimeOrder } from '../core/time-order.ts';

/** Block size in an OPFS file if its calls don't show one. */
const OPFS_BLOCK = 4096;
/** SQLite's largest page: larger steps in an OPFS file aren't blocks. */
const LARGEST_PAGE = 65536;
const EVERY_OFFSET = 'offsets and lengths are multiples of it';
const MOST_OFFSETS = 'most offsets and lengths are multiples of it';
const NO_BLOCKS = `places of ${OPFS_BLOCK} bytes: the calls show no block size`;
const EVERY_KEY = 'keys are multiples of it';
const MOST_KEYS = 'most keys are multiples of it';
const LARGEST = 'largest value of the store; its keys count blocks';
/**
 * By operation: 1 = read, 2 = write; bit 4: in OPFS. Reads of keys don't touch blocks, and Files
 * and streams are copied as a whole.
 */
const KIND = opTable(({ api, counts, keysOnly, result }) => {
  const way = counts === 'read' ? 1 : counts === 'write' ? 2 : 0;
  if (way === 0 || keysOnly) return 0;
  if (api === 'idb') return way;
  return api === 'opfs' && result === 'bytes' ? way | 4 : 0;
});

interface Seen {
  object: number;
  /** Keys below and above 0; for OPFS the offsets and lengths. */
  below: KeyUnits;
  above: KeyUnits;
  /** Whether blocks have negative keys; set once all keys are known. */
  negative: boolean;
  /** For IndexedDB: bytes of the largest value. */
  largest: number;
  /** Size of one place in the unit of the calls: bytes, or steps of the key. */
  unit: number;
}

/** Blocks have keys of one sign; the few with the other sign (absurd-sql: -1) describe the file. */
const keysOf = (seen: Seen): KeyUnits => (seen.negative ? seen.below : seen.above);

/**
 * Objects are the IndexedDB stores and OPFS files with accesses, by database and store, or path.
 */
export const blockAccesses = fact('blockAccesses', 'storage blocks', {}, blockAccessesOf);

function blockAccessesOf(store: TraceStore): Accesses {
  const out = new Accesses();
  const byName = new Map<string, Seen>();
  const byId = store.threads.map(({ definitions }) => {
    const ids = new Map<number, Seen>();
    for (const [id, d] of definitions) {
      if (d.kind !== 'idb-store' && d.kind !== 'opfs-file') continue;
      const kind = d.kind === 'idb-store' ? 'idb-store' : 'opfs';
      const path = d.kind === 'idb-store' ? `${d.db}/${d.store}` : d.path;
      const unit = { bytes: null, how: '', certain: false };
      const seen = getOrMake(byName, `${kind}\0${path}`, () => ({
        object: out.objects.push({ path, kind, vfs: '', unit, highest: 0, untied: 0 }) - 1,
        below: new KeyUnits(),
        above: new KeyUnits(),
        negative: false,
        largest: 0,
        unit: 1,
      }));
      ids.set(id, seen);
    }
    return ids;
  });
  const used = store.threads.filter(({ index }) => byId[index]!.size > 0);
  for (const thread of used) {
    const { op, object, offset, length, count } = thread.events;
    for (let row = 0; row < count; row++) {
      const kind = KIND[op[row]!]!;
      const seen = kind ? byId[thread.index]!.get(object[row]!) : undefined;
      if (!seen || !Number.isFinite(offset[row])) continue;
      const at = Math.abs(offset[row]!);
      if (!Number.isInteger(at)) continue;
      const keys = offset[row]! < 0 ? seen.below : seen.above;
      const inOpfs = (kind & 4) !== 0;
      keys.add(at);
      if (inOpfs) {
        keys.add(length[row]!);
        keys.highest = Math.max(keys.highest, at + length[row]! - 1);
      }
      if (!inOpfs) seen.largest = Math.max(seen.largest, length[row]!);
    }
  }
  for (const seen of byName.values()) {
    const object = out.objects[seen.object]!;
    seen.negative = seen.below.count > seen.above.count;
    const keys = keysOf(seen);
    seen.unit = keys.unit(object.kind === 'opfs' ? LARGEST_PAGE : seen.largest);
    const certain = keys.allMultiplesOf(seen.unit);
    if (object.kind === 'opfs') {
      if (seen.unit > 1)
        object.unit = { bytes: seen.unit, how: certain ? EVERY_OFFSET : MOST_OFFSETS, certain };
      else object.unit = { bytes: (seen.unit = OPFS_BLOCK), how: NO_BLOCKS, certain: false };
    } else if (seen.unit > 1)
      object.unit = { bytes: seen.unit, how: certain ? EVERY_KEY : MOST_KEYS, certain };
    else
      object.unit = {
        bytes: seen.largest || null,
        how: seen.largest ? LARGEST : 'no value was seen',
        certain: false,
      };
    object.highest = Math.floor(keys.highest / seen.unit);
  }
  const askers = new Map<number, number>();
  const take = (thread: ThreadStore, row: number): void => {
    const { events } = thread;
    const kind = KIND[events.op[row]!]!;
    if (kind === 0 || events.endSeq[row] === 0) return;
    const seen = byId[thread.index]!.get(events.object[row]!);
    if (!seen) return;
    const object = out.objects[seen.object]!;
    const inOpfs = (kind & 4) !== 0;
    const result = events.result[row]!;
    const failed = (events.flags[row]! & Flag.threw) !== 0 || (inOpfs ? result < 0 : result !== 0);
    if (failed) return;
    const signed = events.offset[row]!;
    const key = Math.abs(signed);
    const { unit } = seen;
    const first = Math.floor(key / unit);
    const span = inOpfs ? Math.max(1, Math.ceil((key + events.length[row]!) / unit) - first) : 1;
    if (
      !Number.isSafeInteger(key) ||
      (key !== 0 && signed < 0 !== seen.negative) ||
      !out.covers(span)
    ) {
      object.untied++;
      return;
    }
    const asker = getOrMake(
      askers,
      thread.index,
      () => out.askers.push({ thread: thread.index, connection: 0 }) - 1,
    );
    const what = (kind & 3) === 2 ? Access.write : 0;
    const bytes = bytesCarried(events, row);
    out.push(thread, row, seen.object, first, span, what, 0, bytes, asker);
  };
  eachRunInTimeOrder(used, (thread, from, to) => {
    for (let row = from; row < to; row++) take(thread, row);
  });
  return out;
}
