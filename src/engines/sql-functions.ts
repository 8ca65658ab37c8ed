/** The traced functions of SQLite, and how each is called. */
import { Op } from '../event/event.ts';
import type { WasmFunction } from '../vfs-instrumented/interpose/natives.ts';
import { apply } from '../record/reflect.ts';

export interface Traced {
  /** Its C name. */
  readonly name: string;
  readonly op: number;
  readonly arity: number;
  /** Its arguments: (db, zSql, ...), (zName, ppDb, ...), (db), or (stmt). */
  readonly subject: 'open' | 'close' | 'prepare' | 'exec' | 'statement';
}

const traced = (name: string, op: number, arity: number, subject: Traced['subject']): Traced => ({
  name: `sqlite3_${name}`,
  op,
  arity,
  subject,
});

export const TRACED: readonly Traced[] = [
  traced('open', Op.sqlOpen, 2, 'open'),
  traced('open_v2', Op.sqlOpen, 4, 'open'),
  traced('close', Op.sqlClose, 1, 'close'),
  traced('close_v2', Op.sqlClose, 1, 'close'),
  traced('prepare', Op.sqlPrepare, 5, 'prepare'),
  traced('prepare_v2', Op.sqlPrepare, 5, 'prepare'),
  traced('prepare_v3', Op.sqlPrepare, 6, 'prepare'),
  traced('step', Op.sqlStep, 1, 'statement'),
  traced('reset', Op.sqlReset, 1, 'statement'),
  traced('finalize', Op.sqlFinalize, 1, 'statement'),
  traced('exec', Op.sqlExec, 5, 'exec'),
];

/** Call `fn` with the first `arity` of `a` to `f`, or with `all`. */
export function forward(
  arity: number,
  fn: WasmFunction,
  self: unknown,
  all: ArrayLike<unknown> | null,
  a: unknown,
  b: unknown,
  c: unknown,
  d: unknown,
  e: unknown,
  f: unknown,
): unknown {
  if (all !== null) return apply(fn, self, all) as unknown;
  switch (arity) {
    case 1:
      return apply(fn, self, [a]) as unknown;
    case 2:
      return apply(fn, self, [a, b]) as unknown;
    case 4:
      return apply(fn, self, [a, b, c, d]) as unknown;
    case 5:
      return apply(fn, self, [a, b, c, d, e]) as unknown;
    default:
      return apply(fn, self, [a, b, c, d, e, f]) as unknown;
  }
}
