/** SQLite's files are big-endian: their first bytes as 32-bit words, the form that the decoders of this folder take. */

/** Bytes that a decoder of a write needs at most. */
export const FIRST_BYTES = 32;

/**
 * @param bytes the beginning of what is written or read; only whole words count
 * @param into reused when given: 8 words @returns the words, as many as there are whole ones, 8 at most
 */
export function firstWords(bytes: Uint8Array, into: Uint32Array = new Uint32Array(FIRST_BYTES / 4)): Uint32Array {
  const n = Math.min(into.length, bytes.length >>> 2);
  for (let i = 0; i < n; i++) into[i] = (bytes[i * 4]! << 24) | (bytes[i * 4 + 1]! << 16) | (bytes[i * 4 + 2]! << 8) | bytes[i * 4 + 3]!;
  return n === into.length ? into : into.subarray(0, n);
}

/** A page size that SQLite can have: a power of two from 512 to 65536. */
export const isPageSize = (n: number): boolean => n >= 512 && n <= 65536 && (n & (n - 1)) === 0;
