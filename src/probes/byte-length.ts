import { apply, getterOf } from '../record/reflect.ts';

const [ofArray, ofView, ofBuffer] = [
  Object.getPrototypeOf(Uint8Array.prototype) as object,
  DataView.prototype,
  ArrayBuffer.prototype,
].map((prototype) => getterOf(prototype, 'byteLength'));

/** Bytes of a buffer or a view of one, as the platform counts them: the app may have put a getter of its own in the way. */
export const byteLengthOf = (data: ArrayBuffer | ArrayBufferView): number =>
  apply(
    (data instanceof DataView ? ofView : ArrayBuffer.isView(data) ? ofArray : ofBuffer)!,
    data,
    [],
  ) as number;
