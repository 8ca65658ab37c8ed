/**
 * Wrappers around SQLite's functions that don't allocate, because SQL may be called a million times
 * a second.
 */
import type { WasmFunction } from '../vfs-instrumented/interpose/natives.ts';
import { keepShape } from './asyncify.ts';
import type { Traced } from './sql-functions.ts';
import type { SqlLayer } from './sql-layer.ts';
import { apply } from '../record/reflect.ts';

/** Records the calls of SQL. */
export type SqlCaller = Pick<SqlLayer, 'call' | 'bound'>;

/**
 * A function that replaces `fn`, with its name and arity, and records its calls.
 * @param layerOf the layer that records a call; null = the call isn't recorded
 */
export function tracedCall(
  of: Traced,
  fn: WasmFunction,
  layerOf: () => SqlCaller | null,
): WasmFunction {
  const { arity } = of;

  const few = function (this: unknown, a: number): unknown {
    const layer = layerOf();
    if (layer === null) return apply(fn, this, arguments) as unknown;
    return layer.call(of, fn, this, arguments.length === 1 ? null : arguments, a, 0, 0, 0, 0, 0);
  };
  const many = function (
    this: unknown,
    a: number,
    b: number,
    c: number,
    d: number,
    e: number,
    f: number,
  ): unknown {
    const layer = layerOf();
    if (layer === null) return apply(fn, this, arguments) as unknown;
    return layer.call(
      of,
      fn,
      this,
      arguments.length === arity ? null : arguments,
      a,
      b,
      c,
      d,
      e,
      f,
    );
  };

  return keepShape(arity === 1 ? few : many, fn);
}
