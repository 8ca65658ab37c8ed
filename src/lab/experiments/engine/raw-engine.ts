/** An instance of any SQLite build: its functions by their C API names, and its memory. */

export type Call = (...args: (number | bigint)[]) => number | bigint;

/** An instance of a SQLite build, independent of the JavaScript that loaded it. */
export interface RawEngine {
  /**
   * A function by its C API name, such as `sqlite3_step`; undefined where the build doesn't export
   * it.
   */
  readonly find: (name: string) => unknown;
  readonly memory: WebAssembly.Memory;
  /** Its function table; null where it doesn't export one. */
  readonly table: WebAssembly.Table | null;
}

/**
 * Functions that allocate and free. If a build exports only one of SQLite's two, another pair is
 * used.
 */
export const HEAPS = [
  ['sqlite3_malloc', 'sqlite3_free'],
  ['malloc', 'free'],
] as const;

/** Bytes that stay allocated. @throws Error when out of memory */
export function rawAllocate({ find }: RawEngine, bytes: number): number {
  const [malloc] = HEAPS.find((pair) => pair.every((name) => typeof find(name) === 'function'))!;
  const at = Number((find(malloc) as Call)(bytes)) >>> 0;
  if (at === 0) throw new Error('SQLite is out of memory.');
  return at;
}
