import { apply, getterOf } from '../record/reflect.ts';

/** Where the platform keeps it; the most frequent first. */
const GETTERS = [
  Object.getPrototypeOf(Uint8Array.prototype) as object,
  ArrayBuffer.prototype,
  DataView.prototype,
].map((prototype) => getterOf(prototype, 'byteLength'));

/**
 * Bytes of a buffer or a view of one, as the platform counts them: the app may have put a getter of its own in the way.
 * @throws TypeError for null and undefined
 */
export function byteLengthOf(data: ArrayBuffer | ArrayBufferView): number {
  for (const getter of GETTERS)
    try {
      return apply(getter, data, []) as number;
    } catch {
      // of another kind
    }
  return data.byteLength; // a SharedArrayBuffer, whose getter is not to be had everywhere
}
