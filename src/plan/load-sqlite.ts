/**
 * Loads the SQLite that makes plans, reads copies, and answers the Query view: builds of wa-sqlite,
 * loaded on first use.
 */

/** Where its wasm comes from: bytes (Node), or the file's address (a worker). */
export type WasmSource = { wasmBinary: Uint8Array } | { locateFile: (name: string) => string };

/**
 * Synchronous builds, by npm package, with their SQLite releases. The first one answers the Query
 * view and reads copies.
 */
export const BUILDS = { 'wa-sqlite': '3.44.0', '@journeyapps/wa-sqlite': '3.53.0' } as const;
export type SqliteBuild = keyof typeof BUILDS;

const LOADERS: Record<SqliteBuild, () => Promise<[load: unknown, api: unknown]>> = {
  'wa-sqlite': () => Promise.all([import('wa-sqlite/dist/wa-sqlite.mjs'), import('wa-sqlite')]),
  '@journeyapps/wa-sqlite': () =>
    Promise.all([
      import('@journeyapps/wa-sqlite/dist/wa-sqlite.mjs'),
      import('@journeyapps/wa-sqlite'),
    ]),
};

/**
 * A new instance.
 * @param source of that build's wasm
 * @throws Error when the wasm can't be loaded
 */
export async function loadSqlite<Module extends object>(
  source: WasmSource,
  build: SqliteBuild = 'wa-sqlite',
): Promise<{ module: Module; sqlite3: SQLiteAPI }> {
  const [{ default: load }, { Factory }] = (await LOADERS[build]()) as [
    { default: (options: object) => Promise<Module> },
    { Factory: (module: Module) => SQLiteAPI },
  ];
  // a copy, because Emscripten turns the given object itself into the module
  const module = await load({ ...source });
  return { module, sqlite3: Factory(module) };
}

/** A release as a number that grows with it: 3.44.0 is 3044000. */
const ordinal = (release: string): number =>
  release.split('.').reduce((sum, part, i) => sum + Number(part) * 1000 ** (2 - i), 0);

/**
 * Chooses the build for plans.
 * @param releases that an app ran. The build is the nearest to the newest of them; of two that are
 * equally near, the newer
 */
export function buildFor(releases: readonly string[]): SqliteBuild {
  const builds = Object.keys(BUILDS) as SqliteBuild[];
  const wanted = Math.max(...releases.map(ordinal));
  if (!Number.isFinite(wanted)) return builds[0]!;
  const distance = (build: SqliteBuild): number => Math.abs(ordinal(BUILDS[build]) - wanted);
  return builds.reduce((best, build) => (distance(build) <= distance(best) ? build : best));
}
