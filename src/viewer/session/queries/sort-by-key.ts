/**
 * Sorts millions of rows by a number: a radix sort over the bits of the key, 16 at a time. For
 * numbers from 0, the bits ascend as the numbers do. Rows with equal keys keep their order in both
 * directions.
 */

const BITS = 16;
const BUCKETS = 1 << BITS;
/** Digits of an unknown key: the highest is above those of all numbers. */
const LAST = 0xffff;

interface Permutation {
  /** The values in the new order, one for each key. */
  gather<T extends Uint16Array | Uint32Array>(values: T): T;
}

/** @param keys from 0, overwritten; NaN = not known, sorted last in both directions */
export function sortByKey(keys: Float64Array, descending: boolean): Permutation {
  const n = keys.length;
  // halves of 16 bits, the lowest first, in this machine's byte order (every browser's:
  // little-endian)
  const digits = new Uint16Array(keys.buffer, keys.byteOffset, n * 4);
  for (let i = 0; i < n; i++) if (Number.isNaN(keys[i])) digits.fill(LAST, i * 4, i * 4 + 4);
  let [from, to] = [new Uint32Array(n), new Uint32Array(n)];
  for (let i = 0; i < n; i++) from[i] = i;
  for (let digit = 0; digit < 4; digit++) {
    const starts = new Uint32Array(BUCKETS);
    // the sign is the highest bit: when inverted, a number is still below LAST there
    const flip = !descending ? 0 : digit === 3 ? LAST >> 1 : LAST;
    const at = (i: number): number =>
      digits[i * 4 + 3] === LAST ? LAST : digits[i * 4 + digit]! ^ flip;
    for (let i = 0; i < n; i++) starts[at(i)]!++;
    if (starts.includes(n)) continue; // all equal
    let sum = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const count = starts[bucket]!;
      starts[bucket] = sum;
      sum += count;
    }
    for (let i = 0; i < n; i++) {
      const row = from[i]!;
      to[starts[at(row)]!++] = row;
    }
    [from, to] = [to, from];
  }
  return {
    gather<T extends Uint16Array | Uint32Array>(values: T): T {
      const sorted = values.slice(0, n) as T;
      for (let i = 0; i < n; i++) sorted[i] = values[from[i]!]!;
      return sorted;
    },
  };
}
