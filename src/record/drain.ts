/**
 * Takes records and definitions out of a trace memory: the reader's half of ring-layout.ts. Runs on
 * the writing thread or, for a shared memory, on the page while the writer continues.
 */
import { RECORD_BYTES } from '../event/event.ts';
import type { Definition } from '../event/definitions.ts';
import { Header, RING_AT } from './ring-layout.ts';

interface Drained {
  /** Number of the first record since the thread began, modulo 2^32. */
  first: number;
  count: number;
  /** count * RECORD_BYTES bytes. */
  records: ArrayBuffer;
}

const W = (byte: number): number => byte >>> 2;
/** Of 64 bits, in a record. */
const WORDS = RECORD_BYTES / 8;

/**
 * @param limit maximum number of records
 * @returns null when there is nothing to take
 * @throws RangeError if the header is invalid, because a page can write into a shared ring
 */
export function drainRecords(buffer: ArrayBufferLike, limit = 65536): Drained | null {
  const u32 = new Uint32Array(buffer);
  const capacity = u32[W(Header.capacity)]!;
  const head = Atomics.load(u32, W(Header.head)) >>> 0;
  const first = u32[W(Header.claimed)]!;
  const count = Math.min((head - first) >>> 0, limit);
  if (count === 0) return null;
  if (
    capacity & (capacity - 1) ||
    count > capacity ||
    RING_AT + capacity * RECORD_BYTES > buffer.byteLength
  )
    throw new RangeError(`${count} records in a ring of ${capacity}`);
  // from here on the writer doesn't touch these slots
  Atomics.store(u32, W(Header.claimed), (first + count) | 0);
  const slot = first & (capacity - 1);
  const records = copied(
    buffer,
    RING_AT + slot * RECORD_BYTES,
    count,
    Math.min(count, capacity - slot),
  );
  Atomics.store(u32, W(Header.released), (first + count) | 0);
  return { first, count, records };
}

/**
 * Posting transfers the buffer, and V8 then discards all optimized code that relies on arrays of
 * that type. This doesn't apply to Uint8Array, which the app's code and SQLite use.
 * @param straight records up to the end of the ring; the others are at its start
 */
function copied(buffer: ArrayBufferLike, at: number, count: number, straight: number): ArrayBuffer {
  // a slice is not filled with zeros first, and has no array; that of a shared buffer would be
  // shared
  if (straight === count && buffer instanceof ArrayBuffer)
    return buffer.slice(at, at + count * RECORD_BYTES);
  const records = new BigInt64Array(count * WORDS);
  records.set(new BigInt64Array(buffer, at, straight * WORDS));
  records.set(new BigInt64Array(buffer, RING_AT, (count - straight) * WORDS), straight * WORDS);
  return records.buffer;
}

/**
 * Definitions of a shared memory. Call after drainRecords: a definition is written before the first
 * record that uses it.
 */
export function drainSharedDefinitions(
  buffer: ArrayBufferLike,
  definitionsAt: number,
): Definition[] {
  const u32 = new Uint32Array(buffer);
  const capacity = u32[W(Header.definitionsCapacity)]!;
  const bytes = new Uint8Array(buffer, definitionsAt, capacity);
  const mask = capacity - 1;
  const found: Definition[] = [];
  let tail = u32[W(Header.definitionsTail)]!;
  const head = Atomics.load(u32, W(Header.definitionsHead)) >>> 0;
  while (tail !== head) {
    let length = 0;
    for (let i = 0; i < 4; i++) length |= bytes[(tail + i) & mask]! << (8 * i);
    const json = new Uint8Array(length); // copied: TextDecoder refuses shared bytes
    for (let i = 0; i < length; i++) json[i] = bytes[(tail + 4 + i) & mask]!;
    found.push(JSON.parse(new TextDecoder().decode(json)) as Definition);
    tail = (tail + 4 + length) >>> 0;
  }
  Atomics.store(u32, W(Header.definitionsTail), tail | 0);
  return found;
}

/** Total records lost for lack of room, and exceptions caught in hooks. */
export function counters(buffer: ArrayBufferLike): { dropped: number; faults: number } {
  const u32 = new Uint32Array(buffer);
  return { dropped: u32[W(Header.dropped)]!, faults: u32[W(Header.faults)]! };
}
