/**
 * Values that the app binds. At capture level 3, they are kept by statement and recorded once a
 * run. Below that, only a hash of all of them is recorded (value-hash.ts), and only for queries.
 * SQLite isn't called: its sqlite3_expanded_sql would allocate in the app's memory. Texts are cut,
 * and only the length of blobs is recorded.
 */
import type { EngineMemory } from '../vfs-instrumented/interpose/io-methods.ts';
import type { WasmFunction } from '../vfs-instrumented/interpose/natives.ts';
import { keepShape } from './asyncify.ts';
import { apply } from '../record/reflect.ts';
import { textEnd, type BindKind } from './value-hash.ts';

/** Maximum characters of a text that are stored. */
const MOST_TEXT = 200;
/** Maximum parameters of a statement that are stored. */
export const MOST_VALUES = 100;

export interface TracedBind {
  /** Its C name. */
  readonly name: string;
  readonly kind: BindKind;
}
const bind = (kind: BindKind, name = `bind_${kind}`): TracedBind => ({
  name: `sqlite3_${name}`,
  kind,
});

/**
 * All take (stmt, index, value, ...). The 64-bit lengths of text64 and blob64 are BigInt or number.
 */
export const TRACED_BINDS: readonly TracedBind[] = [
  bind('int'),
  bind('int64'),
  bind('double'),
  bind('text'),
  bind('text', 'bind_text64'),
  bind('text16'),
  bind('blob'),
  bind('blob', 'bind_blob64'),
  bind('zeroblob'),
  bind('null'),
  bind('clear', 'clear_bindings'),
];

/** Stores what is bound. */
export interface BindKeeper {
  bound(traced: TracedBind, args: ArrayLike<unknown>): void;
}

/**
 * A function that replaces `fn`, with its name and arity, and reports a bound value once SQLite has
 * accepted it.
 */
export function bindCall(
  traced: TracedBind,
  fn: WasmFunction,
  keeperOf: () => BindKeeper | null,
): WasmFunction {
  const wrapper = function (this: unknown): unknown {
    const result: unknown = apply(fn, this, arguments);
    if (result === 0) keeperOf()?.bound(traced, arguments);
    return result;
  };
  return keepShape(wrapper, fn);
}

const quoted = (text: string): string =>
  text.length > MOST_TEXT
    ? `'${text.slice(0, MOST_TEXT).replaceAll("'", "''")}…'`
    : `'${text.replaceAll("'", "''")}'`;

/** A bound value as an SQL literal. @throws if the memory can't be read */
export function literalOf(kind: BindKind, memory: EngineMemory, args: ArrayLike<unknown>): string {
  const [, , value, length] = Array.from(args);
  switch (kind) {
    case 'int':
      return String(Number(value) | 0);
    case 'int64':
      // builds without BigInt pass two halves
      return typeof value === 'bigint'
        ? String(value)
        : String(
            BigInt.asIntN(64, (BigInt(Number(length) | 0) << 32n) | BigInt(Number(value) >>> 0)),
          );
    case 'double':
      return String(Number(value));
    case 'text':
    case 'text16':
      return text(kind, memory, Number(value), Number(length));
    case 'blob':
      return Number(value) ? `x'(${Math.max(0, Number(length))} bytes)'` : 'NULL';
    case 'zeroblob':
      return `x'(${Math.max(0, Number(value))} bytes)'`;
    default:
      return 'NULL';
  }
}

/** @param bytes negative: up to the NUL */
function text(
  kind: 'text' | 'text16',
  memory: EngineMemory,
  address: number,
  bytes: number,
): string {
  if (!address) return 'NULL';
  const heap = memory.bytes();
  const step = kind === 'text16' ? 2 : 1;
  const most = Math.min(
    heap.length,
    address + (bytes < 0 ? MOST_TEXT * 4 + step : Math.min(bytes, MOST_TEXT * 4)),
  );
  const end = Math.min(most, textEnd(heap, address, bytes, step));
  // decoded from a copy, because TextDecoder doesn't accept shared memory
  return quoted(
    new TextDecoder(kind === 'text16' ? 'utf-16le' : 'utf-8').decode(heap.slice(address, end)),
  );
}
