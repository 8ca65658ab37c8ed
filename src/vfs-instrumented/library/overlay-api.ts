/**
 * How wa-sqlite's two generations call a VFS. 2.x passes C's arguments: pointers into its memory,
 * 64-bit numbers in halves. 1.x passes JavaScript values (a string, a Uint8Array, a number) and
 * calls an asynchronous method twice (Asyncify).
 */
import type { EngineInfo } from '../../event/definitions.ts';

interface Module {
  HEAPU8: Uint8Array;
  UTF8ToString(pointer: number): string;
  _sqlite3_libversion?: () => number;
}

export interface Api {
  readonly version: 1 | 2;
  /** Name passed to xOpen, from its first two arguments; null for a temporary file. */
  openName(a: unknown, b: unknown): string | null;
  /** Name passed to xDelete and xAccess. */
  name(a: unknown, b: unknown): string;
  /** For xRead and xWrite, from the arguments after the file. */
  length(b: unknown, c: unknown): number;
  offset(c: unknown, d: unknown, e: unknown): number;
  /** For xTruncate. */
  size(b: unknown, c: unknown): number;
  /** The memory with the buffer `b`, and the buffer's position in it. */
  bytes(b: unknown): Uint8Array;
  at(b: unknown): number;
  engine(): EngineInfo;
}

const NOTE = 'Recorded by the app itself: its VFS calls, no SQL.';
const engineInfo = (
  sqliteVersion: string | null,
  suspension: EngineInfo['suspension'],
): EngineInfo => ({
  name: 'wa-sqlite',
  sqliteVersion,
  sourceId: null,
  suspension,
  layers: { vfs: true, sql: false, counters: false },
  note: NOTE,
});
const join = (low: number, high: number): number => high * 4294967296 + (low >>> 0);

/** @throws TypeError for a 2.x VFS without its module */
export function apiOf(vfs: Record<string, unknown>): Api {
  return typeof vfs.hasAsyncMethod === 'function' ? second(vfs) : first(vfs);
}

function second(vfs: Record<string, unknown>): Api {
  const module = vfs._module as Module | undefined;
  if (!module?.HEAPU8)
    throw new TypeError(
      'this VFS has no _module with HEAPU8: make it with the module that wa-sqlite was loaded as',
    );
  const version = (): string | null =>
    module._sqlite3_libversion ? module.UTF8ToString(module._sqlite3_libversion()) : null;
  return {
    version: 2,
    openName: (_pVfs, zName) => (zName ? module.UTF8ToString(zName as number) : null),
    name: (_pVfs, zName) => module.UTF8ToString(zName as number),
    length: (_b, c) => c as number,
    offset: (_c, d, e) => join(d as number, e as number),
    size: (b, c) => join(b as number, c as number),
    bytes: () => module.HEAPU8,
    at: (b) => b as number,
    engine: () =>
      engineInfo(
        version(),
        (vfs.hasAsyncMethod as (m: string) => boolean)('xRead') ? 'unknown' : 'none',
      ),
  };
}

function first(vfs: Record<string, unknown>): Api {
  return {
    version: 1,
    openName: (name) => (name as string) || null,
    name: (name) => name as string,
    length: (b) => (b as Uint8Array).byteLength,
    offset: (c) => c as number,
    size: (b) => b as number,
    bytes: (b) => b as Uint8Array,
    at: () => 0,
    engine: () => engineInfo(null, typeof vfs.handleAsync === 'function' ? 'unknown' : 'none'),
  };
}
