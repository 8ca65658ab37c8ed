/**
 * Detects which SQLite build a wasm instance is from strings in its memory and from the shape of
 * its exports and imports, because most builds have minified export names. The table BUILDS has
 * what identifies each build.
 */
import { importedValues } from './imports.ts';
import { hasType } from '../vfs-instrumented/interpose/link-probe.ts';
import type { WasmFunction } from '../vfs-instrumented/interpose/natives.ts';
import type { EngineInfo } from '../event/definitions.ts';

export interface Fingerprint {
  name: string;
  sqliteVersion: string | null;
  /** SQLITE_SOURCE_ID: date, time and hash of the check-in. */
  sourceId: string | null;
  suspension: EngineInfo['suspension'];
  /**
   * Names of asyncify_start_unwind, _stop_unwind, _start_rewind, _stop_rewind among the exports;
   * null without Asyncify.
   */
  asyncify: readonly string[] | null;
  /**
   * Exports with SQLite's own names call the SQL functions (sqlite.org's build, or an unknown one
   * without suspension).
   */
  namedExports: boolean;
}

interface Evidence {
  exports: WebAssembly.Exports;
  /** The initialized data, as latin-1. */
  data: string;
}

/** The first match wins. */
const BUILDS: readonly { name: string; is: (e: Evidence) => boolean }[] = [
  {
    name: '@sqlite.org/sqlite-wasm',
    is: (e) => 'sqlite3__wasm_enum_json' in e.exports || 'sqlite3_wasm_enum_json' in e.exports,
  },
  // its builds for dynamic linking don't include PowerSync; they export all of libc, and no other
  // package publishes such builds
  {
    name: '@journeyapps/wa-sqlite',
    is: (e) => (e.data.includes('powersync_') || '__xpg_basename' in e.exports) && isWaSqlite(e),
  },
  { name: 'wa-sqlite', is: isWaSqlite },
  {
    name: 'sql.js',
    is: (e) => /sqlite-src\/sqlite-amalgamation-\d+\/extension-functions\.c/.test(e.data),
  },
];
/** wa-sqlite's makefile compiles deps/extension-functions.c; the path is in an assertion's text. */
function isWaSqlite(e: Evidence): boolean {
  return e.data.includes('deps/extension-functions.c');
}

const HEADER = 'SQLite format 3\0';
/** SQLite's static data is at the bottom of the memory. */
const SCAN_BYTES = 4 << 20;
/**
 * SQLite's other strings are compiled into the same data, at most 200 KB from the header in all
 * known builds.
 */
const AROUND = 768 << 10;

/**
 * Where "SQLite format 3\0" is in a memory or a module, or -1. It searches for the rarest byte
 * first, so that other modules cost little.
 */
export function findHeader(area: Uint8Array): number {
  const wanted = [...HEADER].map((c) => c.charCodeAt(0));
  next: for (let q = area.indexOf(0x51); q > 0; q = area.indexOf(0x51, q + 1)) {
    for (let i = 0; i < wanted.length; i++) if (area[q - 1 + i] !== wanted[i]) continue next;
    return q - 1;
  }
  return -1;
}

/** @returns null if the memory doesn't contain SQLite */
export function fingerprint(
  exports: WebAssembly.Exports,
  memory: WebAssembly.Memory,
  imports: unknown,
): Fingerprint | null {
  const bytes = new Uint8Array(memory.buffer);
  const header = findHeader(bytes.subarray(0, SCAN_BYTES));
  if (header < 0) return null;
  const data = new TextDecoder('latin1').decode(
    bytes.slice(Math.max(0, header - AROUND), header + AROUND),
  );
  const evidence = { exports, data };
  // the hash of a modified source has a suffix, so its end isn't anchored
  const id = /20\d\d-\d\d-\d\d \d\d:\d\d:\d\d [0-9a-f]{50,64}[0-9a-z]*/.exec(data);
  const asyncify = asyncifyExports(exports);
  const known = BUILDS.find((b) => b.is(evidence)) ?? null;
  const suspension = asyncify ? 'asyncify' : hasSuspendingImport(imports) ? 'jspi' : 'none';
  const named =
    typeof exports.sqlite3_step === 'function' && typeof exports.sqlite3_prepare_v2 === 'function';
  return {
    name: known?.name ?? 'SQLite (unknown build)',
    sqliteVersion: versionNear(data, id?.index ?? 0),
    sourceId: id?.[0] ?? null,
    suspension,
    asyncify,
    namedExports: named && (known === BUILDS[0] || (known === null && suspension === 'none')),
  };
}

/**
 * The version nearest to the source id: the same memory has other libraries' texts (PHP's module
 * contains "ReiserFS V3.6.19").
 */
function versionNear(data: string, at: number): string | null {
  let nearest: RegExpExecArray | null = null;
  for (const match of data.matchAll(/[^\d.V](3\.\d{1,2}\.\d{1,2})\0/g))
    if (!nearest || Math.abs(match.index - at) < Math.abs(nearest.index - at)) nearest = match;
  return nearest && nearest[1]!;
}

const NOTHING = { params: '', results: '' };
const ADDRESS = { params: 'i', results: '' };

/**
 * By name, or as the four neighbors typed (i32) () (i32) () at the end of the exports, where
 * binaryen puts them.
 */
function asyncifyExports(exports: WebAssembly.Exports): string[] | null {
  const named = ['start_unwind', 'stop_unwind', 'start_rewind', 'stop_rewind'].map(
    (n) => `asyncify_${n}`,
  );
  if (named.every((n) => typeof exports[n] === 'function')) return named;
  const tail = Object.keys(exports)
    .filter((k) => typeof exports[k] === 'function')
    .slice(-5);
  const shape = tail.map((k) => {
    const fn = exports[k] as WasmFunction;
    return hasType(fn, ADDRESS) ? 'a' : hasType(fn, NOTHING) ? 'n' : '-';
  });
  const at = shape.join('').lastIndexOf('anan');
  return at < 0 ? null : tail.slice(at, at + 4);
}

/** An import made with `new WebAssembly.Suspending(fn)`: JSPI. */
function hasSuspendingImport(imports: unknown): boolean {
  const { Suspending } = WebAssembly as unknown as { Suspending?: new () => object };
  return (
    typeof Suspending === 'function' &&
    importedValues(imports).some((value) => value instanceof Suspending)
  );
}
