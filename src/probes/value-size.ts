/**
 * Bytes and numeric keys of values in IndexedDB and OPFS calls, determined without running the
 * app's code.
 */
import { dataProperty } from '../record/reflect.ts';
import { byteLengthOf } from './byte-length.ts';

/**
 * Approximate bytes of a stored value: buffers and Blobs by their size, strings as UTF-16, numbers
 * 8. Accessors aren't called; nested values count down to three levels.
 */
export function valueBytes(value: unknown, depth = 0): number {
  switch (typeof value) {
    case 'string':
      return value.length * 2;
    case 'number':
    case 'bigint':
      return 8;
    case 'object':
      break;
    default:
      return 0;
  }
  if (value === null) return 0;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return byteLengthOf(value);
  if (typeof Blob === 'function' && value instanceof Blob) return value.size;
  if (value instanceof Date) return 8;
  if (depth === 3) return 0;
  let bytes = 0;
  if (Array.isArray(value)) {
    const length = Math.min(value.length, 100_000);
    for (let i = 0; i < length; i++) bytes += valueBytes(dataProperty(value, i), depth + 1);
    return bytes;
  }
  for (const key of Object.keys(value).slice(0, 64))
    bytes += valueBytes(dataProperty(value, key), depth + 1);
  return bytes;
}

/**
 * The number in a key: the key itself; for an array key, the first number after a name (`[path,
 * offset, version]`), otherwise the last number; for a range, that of its lower (otherwise upper)
 * bound. NaN = none.
 */
export function numericKey(key: unknown): number {
  if (typeof key === 'number') return key;
  if (Array.isArray(key)) {
    const { length } = key;
    const named = typeof dataProperty(key, 0) === 'string';
    for (let i = 1; i <= length; i++) {
      const number = dataProperty(key, named ? i : length - i);
      if (typeof number === 'number') return number;
    }
    return NaN;
  }
  if (typeof IDBKeyRange === 'function' && key instanceof IDBKeyRange) {
    const lower = numericKey(key.lower);
    return Number.isNaN(lower) ? numericKey(key.upper) : lower;
  }
  return NaN;
}

/** The key inside a value, by a store's key path. */
export function inlineKey(value: unknown, keyPath: unknown): unknown {
  if (Array.isArray(keyPath)) return keyPath.map((path) => inlineKey(value, path));
  if (typeof keyPath !== 'string' || keyPath === '') return undefined;
  let at = value;
  for (const name of keyPath.split('.'))
    at = typeof at === 'object' && at !== null ? dataProperty(at, name) : undefined;
  return at;
}
