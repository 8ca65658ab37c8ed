/**
 * Wasm databases that aren't SQLite's C code, detected from the names of a few exports. Their
 * storage calls are traced, and the panel reports why there is no more. The check costs a few
 * property lookups for any module.
 */
import type { Recorder } from '../record/recorder.ts';

const OTHERS: readonly { name: string; is: (exports: WebAssembly.Exports) => boolean }[] = [
  // napi-rs registers each of Turso's classes with a separate export, with changing numbers
  {
    name: '@tursodatabase/database-wasm',
    is: (e) => 'wasi_thread_start' in e && hasPrefix(e, '__napi_register__Opfs'),
  },
  { name: '@electric-sql/pglite', is: (e) => 'pgl_system' in e && 'pg_detoast_datum' in e },
  { name: '@duckdb/duckdb-wasm', is: (e) => 'duckdb_web_open' in e },
];
/** Registrations are among the first exports. */
const LOOK_AT = 64;

function hasPrefix(exports: WebAssembly.Exports, prefix: string): boolean {
  return Object.keys(exports)
    .slice(0, LOOK_AT)
    .some((name) => name.startsWith(prefix));
}

/** @returns the name that its users know, or null */
export function otherDatabase(exports: WebAssembly.Exports): string | null {
  return OTHERS.find((o) => o.is(exports))?.name ?? null;
}

/** Reports that such a database runs on this thread. */
export function announceOther(recorder: Recorder, name: string): void {
  recorder.define({
    kind: 'engine',
    name,
    sqliteVersion: null,
    sourceId: null,
    suspension: 'unknown',
    layers: { vfs: false, sql: false, counters: false },
    note: 'not SQLite C: storage calls only',
  });
}
