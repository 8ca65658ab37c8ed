/** Typed arrays that can change their length. */

/** An array of numbers of one type. */
export type Numbers =
  | Float64Array
  | Float32Array
  | Uint32Array
  | Int32Array
  | Uint16Array
  | Int16Array
  | Uint8Array
  | Int8Array;
/** In every browser that vfscope runs in, not in Node 20. */
interface Transferable {
  transfer?(bytes: number): ArrayBuffer;
}

/**
 * The array with another length; new numbers are 0. Use it only for arrays that no other code
 * holds: if possible, the old array's memory is released at once, and the old array is empty. Left
 * to the garbage collector, a trace's old arrays would take hundreds of MB.
 */
export function resized<T extends Numbers>(from: T, length: number): T {
  const Kind = from.constructor as new (of: number | ArrayBufferLike) => T;
  const buffer = from.buffer as ArrayBufferLike & Transferable;
  if (buffer.transfer && buffer.byteLength === from.byteLength)
    return new Kind(buffer.transfer(length * from.BYTES_PER_ELEMENT));
  const to = new Kind(length);
  to.set(length < from.length ? from.subarray(0, length) : from);
  return to;
}

/**
 * The array with a capacity of `length` numbers: itself, or one from `resized` that is at least
 * twice as long.
 */
export const longer = <T extends Numbers>(from: T, length: number): T =>
  length <= from.length ? from : resized(from, Math.max(length, from.length * 2));
