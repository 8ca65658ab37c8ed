import { apply, getterOf } from '../record/reflect.ts';

/** The platform's getters, the most frequent first. */
const GETTERS = [
  Object.getPrototypeOf(Uint8Array.prototype) as object,
  ArrayBuffer.prototype,
  DataView.prototype,
].map((prototype) => getterOf(prototype, 'byteLength'));

/**
 * Bytes of a buffer or a view, from the platform's getter, because the app may have replaced it.
 * @throws TypeError for null and undefined
 */
export function byteLengthOf(data: ArrayBuffer | ArrayBufferView): number {
  for (const getter of GETTERS)
    try {
      return apply(getter, data, []) as number;
    } catch {
      // another kind of object
    }
  return data.byteLength; // a SharedArrayBuffer, whose getter isn't available everywhere
}
