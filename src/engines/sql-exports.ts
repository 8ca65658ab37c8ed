/**
 * SQL calls of builds whose exports have SQLite's names (sqlite.org's): wrapped in the glue's copy
 * of the exports.
 */
import { bindCall, TRACED_BINDS } from './sql-binds.ts';
import { tracedCall, type SqlCaller } from './sql-calls.ts';
import { TRACED } from './sql-functions.ts';

/**
 * Wrap the named exports of `copy` in place.
 * @param active false once restored: calls are then passed through @param values also wrap the
 * functions that bind values
 */
export function wrapNamedExports(
  copy: Record<string, unknown>,
  layer: SqlCaller,
  active: () => boolean,
  values: boolean,
): void {
  const layerOf = (): SqlCaller | null => (active() ? layer : null);
  for (const traced of TRACED) {
    const original = copy[traced.name];
    if (typeof original === 'function') copy[traced.name] = tracedCall(traced, original, layerOf);
  }
  if (!values) return;
  for (const traced of TRACED_BINDS) {
    const original = copy[traced.name];
    if (typeof original === 'function') copy[traced.name] = bindCall(traced, original, layerOf);
  }
}
