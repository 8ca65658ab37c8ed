/**
 * Whether two runs of a query had the same values, without the values: a 32-bit hash of the bound
 * values and of the literals in the text, with a salt that is drawn once and never leaves the
 * thread. Words are hashed by MurmurHash3 (github.com/aappleby/smhasher), because numbers only
 * differ in their high bits, which FNV-1a (isthe.com/chongo/tech/comp/fnv) doesn't spread. Bytes
 * are hashed by FNV-1a.
 */
import type { EngineMemory } from '../vfs-instrumented/interpose/io-methods.ts';

/** What the sqlite3_bind_ functions bind; `clear` removes all values. */
export type BindKind =
  'int' | 'int64' | 'double' | 'text' | 'text16' | 'blob' | 'zeroblob' | 'null' | 'clear';

const PRIME = 0x0100_0193;
/**
 * Maximum bytes of a text or blob that are read. A longer one counts as unknown, because two that
 * differ would look equal.
 */
const MOST_BYTES = 1024;
/** Stands for an unknown value. */
export const UNKNOWN_VALUE = Infinity;

/** A number's two words. */
const DOUBLE = new Float64Array(1);
const WORDS = new Uint32Array(DOUBLE.buffer);

const rotated = (word: number, by: number): number => (word << by) | (word >>> (32 - by));
export function mix(hash: number, word: number): number {
  const mixed = hash ^ Math.imul(rotated(Math.imul(word, 0xcc9e_2d51), 15), 0x1b87_3593);
  return (Math.imul(rotated(mixed, 13), 5) + 0xe654_6b64) | 0;
}
/** The final hash: each of its bits depends on all. Never 0. */
export function finished(hash: number): number {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2_ae35);
  return (h ^ (h >>> 16)) >>> 0 || 1;
}
const mixNumber = (hash: number, n: number): number => {
  DOUBLE[0] = n;
  return mix(mix(hash, WORDS[0]!), WORDS[1]!);
};

/** @returns the hash, including the bytes of [from, to) */
export function mixBytes(hash: number, heap: Uint8Array, from: number, to: number): number {
  let mixed = PRIME;
  for (let i = from; i < to; i++) mixed = Math.imul(mixed ^ heap[i]!, PRIME);
  return mix(mix(hash, to - from), mixed);
}

/**
 * The end of a text: `bytes` after its address, or at its NUL.
 * @param bytes negative: up to the NUL @param step bytes of a character
 */
export function textEnd(heap: Uint8Array, address: number, bytes: number, step: number): number {
  if (bytes >= 0) return Math.min(heap.length, address + bytes);
  let end = address;
  while (end + step <= heap.length && (heap[end] !== 0 || (step === 2 && heap[end + 1] !== 0)))
    end += step;
  return end;
}

/**
 * Hash of a value that a sqlite3_bind_ function got; UNKNOWN_VALUE if it is long.
 * @param value its third argument @param length its fourth
 */
export function hashOfValue(
  salt: number,
  kind: BindKind,
  memory: EngineMemory,
  value: unknown,
  length: unknown,
): number {
  switch (kind) {
    case 'int64':
      // builds without BigInt pass two halves
      return typeof value === 'bigint'
        ? mixNumber(mix(salt, Number(BigInt.asIntN(32, value))), Number(value))
        : mix(mixNumber(salt, Number(value)), Number(length));
    case 'int':
    case 'double':
      return mixNumber(salt, Number(value));
    case 'zeroblob':
      return mix(salt + 1, Number(value));
    case 'text':
    case 'text16':
    case 'blob': {
      const address = Number(value);
      if (!address) return salt;
      const heap = memory.bytes();
      const bytes = Number(length);
      const end = textEnd(
        heap,
        address,
        kind === 'blob' ? Math.max(0, bytes) : bytes,
        kind === 'text16' ? 2 : 1,
      );
      if (end - address > MOST_BYTES) return UNKNOWN_VALUE;
      return mixBytes(kind === 'blob' ? salt + 2 : salt, heap, address, end);
    }
    default:
      return salt;
  }
}
