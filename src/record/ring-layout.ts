/**
 * Layout of a thread's trace memory. There is one WebAssembly.Memory per thread, because the
 * trampolines that write into it are wasm. It is shared if the page is cross-origin isolated, so
 * that the page can read a worker that is blocked in Atomics.wait.
 *
 *   0 header words | 256 ring of records | ring of definitions (bytes) | one block per traced engine
 *
 * One writer (the thread itself), one reader (the thread itself, or the page for a shared memory).
 * The writer publishes a record by storing HEAD after its fields. The reader claims, copies, then
 * releases. A call that ends after its record was claimed adds an `end` record instead of writing
 * into the ring.
 */
import { RECORD_BYTES } from '../event/event.ts';

/** Byte addresses of the header's words (u32 unless noted). Counters of records run modulo 2^32. */
export const Header = {
  /** records begun so far */
  head: 0,
  /** records that the reader has claimed: their slots must not be written any more */
  claimed: 4,
  /** records whose slots may be used again */
  released: 8,
  /** the last sequence number drawn */
  seq: 12,
  /** total records that didn't fit */
  dropped: 16,
  /** seq of the innermost open vfs or sql call: the `parent` of what begins now */
  current: 20,
  /** connection id of `current` */
  context: 24,
  /** the writer asks for a drain when head - claimed reaches this (u32; 0xffffffff = never) */
  pressure: 28,
  /** f64: the last clock reading, for calls that are counted but not timed */
  lastClock: 32,
  /** 1 while recording; with 0, every hook passes its call straight on */
  enabled: 40,
  /** bytes of definitions written and read so far */
  definitionsHead: 44,
  definitionsTail: 48,
  /**
   * capacity of the ring in records (a power of two) and of the definitions ring in bytes; the
   * reader learns them here
   */
  capacity: 52,
  definitionsCapacity: 56,
  /** hook exceptions caught, in all */
  faults: 60,
  /**
   * f64: the writer asks for a drain with its first call after this, by its clock (ms; Infinity =
   * never)
   */
  due: 64,
} as const;

export const RING_AT = 256;
/**
 * Bytes reserved per engine for its table of open files and its suspended calls
 * (vfs-instrumented/interpose defines the contents).
 */
export const ENGINE_BLOCK_BYTES = 16384;

export interface RingLayout {
  readonly capacity: number;
  readonly definitionsAt: number;
  readonly definitionsCapacity: number;
  readonly enginesAt: number;
  readonly maxEngines: number;
  readonly totalBytes: number;
}

/** Records in the largest ring: 16 MiB. */
export const MOST_RECORDS = 262144;

/**
 * @param capacity records, a power of two up to MOST_RECORDS
 * @param definitionsCapacity bytes, a power of two (0 when not shared)
 */
export function ringLayout(
  capacity: number,
  definitionsCapacity: number,
  maxEngines: number,
): RingLayout {
  if (capacity & (capacity - 1) || capacity > MOST_RECORDS || capacity < 2)
    throw new RangeError(`a ring's capacity can't be ${capacity}`);
  const definitionsAt = RING_AT + capacity * RECORD_BYTES;
  const enginesAt = definitionsAt + definitionsCapacity;
  return {
    capacity,
    definitionsAt,
    definitionsCapacity,
    enginesAt,
    maxEngines,
    totalBytes: enginesAt + maxEngines * ENGINE_BLOCK_BYTES,
  };
}
