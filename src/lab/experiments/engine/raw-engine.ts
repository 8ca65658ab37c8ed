/** An instance of any SQLite build: its functions by their names in the C API, and its memory. */

export type Call = (...args: (number | bigint)[]) => number | bigint;

/** An instance of a SQLite build, whatever JavaScript loaded it. */
export interface RawEngine {
  /** A function of the C API by its name, `sqlite3_step`; undefined where the build doesn't export it. */
  readonly find: (name: string) => unknown;
  readonly memory: WebAssembly.Memory;
  /** Its function table; null where it shows none. */
  readonly table: WebAssembly.Table | null;
}

/** What allocates and what frees: a build may export one of SQLite's own two, which don't go with the others. */
export const HEAPS = [
  ['sqlite3_malloc', 'sqlite3_free'],
  ['malloc', 'free'],
] as const;

/** Bytes that stay allocated. @throws Error where there is no room */
export function rawAllocate({ find }: RawEngine, bytes: number): number {
  const [malloc] = HEAPS.find((pair) => pair.every((name) => typeof find(name) === 'function'))!;
  const at = Number((find(malloc) as Call)(bytes)) >>> 0;
  if (at === 0) throw new Error('SQLite is out of memory.');
  return at;
}
