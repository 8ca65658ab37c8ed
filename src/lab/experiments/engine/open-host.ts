/**
 * Opens a database with a Config and makes the Host for workloads. VFSs that only exist in browsers
 * are passed in by the caller.
 */
import { seedRealm, type NodeCrypto } from '../../meter/seeded-realm.ts';
import { applyConfig } from './apply-config.ts';
import type { EngineModule, Generation } from './builds.ts';
import { loadDatabase, type CopyModule } from './load-database.ts';
import type { Host } from './host.ts';
import { pageCacheReader } from './page-cache.ts';
import { engineFacts, type Engines, type Metering } from './open-engine.ts';
import { StatementCounts } from './statement-counts.ts';
import type { EngineFacts } from '../model/environment-types.ts';
import type { Config, Counters } from '../model/types.ts';
import { VfsTally } from './vfs-tally.ts';

/** One of our VFS instances, with its counters below xRead and xWrite. */
export interface OpenVfs {
  /** With the x* methods of its wa-sqlite generation. */
  readonly vfs: Record<string, unknown>;
  readonly counters?: () => Counters;
  readonly dropBlockCache?: () => Promise<void>;
  /**
   * For a VFS that the engine has registered itself: SQLite's calls go through `vfs` from now on.
   * Absent: `vfs` is registered.
   */
  readonly attach?: () => void;
}
/** @returns null for an unknown VFS */
export type VfsMaker = (
  config: Config,
  module: EngineModule,
  name: string,
) => Promise<OpenVfs | null>;

export interface HostOptions {
  readonly metering: Metering;
  readonly seed: number;
  /** In Node: its module `crypto`, to be seeded, too. */
  readonly nodeCrypto?: NodeCrypto | undefined;
  readonly makeVfs?: VfsMaker;
  readonly rawStep?: Host['rawStep'];
  readonly runActors?: Host['runActors'];
  /** The initial content of the database; absent: empty. */
  readonly database?: Blob;
  /**
   * Read the page cache's counters between steps. Off where counts must exactly equal those of a
   * plain run.
   */
  readonly pageCache: boolean;
}
export interface OpenHost {
  readonly host: Host;
  /** Asks the engine for its version, outside measurements. */
  readonly engine: () => EngineFacts;
  /** Closes the database and restores the realm's randomness and clock. */
  readonly close: () => Promise<void>;
}

/** Saved counts depend on a name of 4 letters: SQLite copies it at every journal. */
const FILE = 't.db';
/** VFSs that wait by the clock would wait forever on a clock that only moves with calls. */
const NEEDS_CLOCK = new Set([
  'OPFSCoopSync',
  'OPFSAdaptive',
  'OPFSAnyContext',
  'OPFSPermuted',
  'OPFSWriteAhead',
  'IDBMirror',
  'opfs',
  'opfs-wl',
]);

/** @throws when the build or the VFS isn't available here */
export async function openHost(
  engines: Engines,
  config: Config,
  options: HostOptions,
): Promise<OpenHost> {
  const counting = options.metering !== 'none';
  const restore = counting
    ? seedRealm({
        seed: options.seed,
        clock: !NEEDS_CLOCK.has(config.vfs),
        nodeCrypto: options.nodeCrypto,
      })
    : (): void => {};
  try {
    return await open(engines, config, options, restore);
  } catch (e) {
    restore();
    throw e;
  }
}

async function open(
  engines: Engines,
  config: Config,
  options: HostOptions,
  restore: () => void,
): Promise<OpenHost> {
  const counting = options.metering !== 'none';
  const engine = await engines.open(config, options.metering);
  const { sqlite3, module } = engine;
  const made =
    config.vfs === 'memory'
      ? null
      : await vfsOf(config, module, options.makeVfs, engine.build.generation);
  const executed = engine.instructions;
  // one counter per function: too many to read at every statement and call
  const total = options.metering === 'total' ? executed : null;
  const statements: StatementCounts | null =
    total && new StatementCounts(sqlite3, total, () => tally?.total ?? 0);
  const tally =
    made && new VfsTally(made.vfs, engine.build.generation, module, statements?.instructions);
  if (made?.attach) made.attach();
  else if (made)
    (sqlite3 as unknown as { vfs_register(vfs: object, asDefault: boolean): number }).vfs_register(
      made.vfs,
      true,
    );
  const path = made ? FILE : ':memory:';
  const readCache = options.pageCache ? pageCacheReader(module) : null;
  // a new connection counts from 0; the sum includes closed connections
  let closed: Counters = {};
  const cache = (): Counters =>
    readCache
      ? Object.fromEntries(
          Object.entries(readCache(host.db)).map(([name, n]) => [name, n + (closed[name] ?? 0)]),
        )
      : {};
  const host: Host = {
    sqlite3,
    db: await sqlite3.open_v2(path),
    counters: () => ({ ...tally?.read(), ...made?.counters?.(), ...cache() }),
    instructions: statements?.instructions ?? executed,
    statements,
    memory: engine.memory,
    functions: options.metering === 'functions' ? engine.functions : null,
    takeCheckpoints: counting || !tally ? null : () => tally.takeCheckpoints(),
    mark: (instructions) => tally?.mark(instructions),
    now: () => performance.now(),
    async reopen() {
      if (path === ':memory:')
        throw new Error('vfs=memory keeps nothing that could be opened again: choose MemoryVFS.');
      closed = cache();
      await sqlite3.close(host.db);
      host.db = await sqlite3.open_v2(path);
      await applyConfig(host, config, true);
    },
    dropBlockCache: made?.dropBlockCache ?? null,
    rawStep: options.rawStep ?? null,
    runActors: options.runActors ?? null,
  };
  if (options.database) {
    await loadDatabase(
      sqlite3,
      module as CopyModule,
      host.db,
      options.database,
      config.pageSize,
      engine.exported,
    );
    await host.reopen(); // its page cache is empty, as an app's is at the start
  }
  return {
    host,
    engine: () => engineFacts(engine, config.build),
    async close() {
      try {
        await sqlite3.close(host.db);
      } finally {
        restore();
      }
    },
  };
}

async function vfsOf(
  config: Config,
  module: EngineModule,
  make: VfsMaker | undefined,
  generation: Generation,
): Promise<OpenVfs> {
  const vfs =
    (await make?.(config, module, 'lab')) ?? (await memoryVfs(config, module, generation));
  if (!vfs)
    throw new Error(
      `${config.vfs} isn't available here. In Node there are memory, MemoryVFS, and MemoryAsyncVFS.`,
    );
  return vfs;
}

interface VfsClass {
  new (): object;
  create?(name: string, module: object): Promise<object>;
}

/**
 * wa-sqlite's own in-memory VFSs, which don't need a browser.
 * @param generation of the engine's API
 */
export async function memoryVfs(
  config: Config,
  module: EngineModule,
  generation: Generation = 2,
): Promise<OpenVfs | null> {
  const { vfs } = config;
  if (vfs !== 'MemoryVFS' && vfs !== 'MemoryAsyncVFS') return null;
  if (vfs === 'MemoryAsyncVFS' && config.build === 'sync')
    throw new Error('MemoryAsyncVFS needs an asyncify or jspi build.');
  const classes = (await (generation === 1
    ? vfs === 'MemoryVFS'
      ? import('wa-sqlite/src/examples/MemoryVFS.js')
      : import('wa-sqlite/src/examples/MemoryAsyncVFS.js')
    : vfs === 'MemoryVFS'
      ? import('@journeyapps/wa-sqlite/src/examples/MemoryVFS.js')
      : import('@journeyapps/wa-sqlite/src/examples/MemoryAsyncVFS.js'))) as unknown as Record<
    string,
    VfsClass
  >;
  const Vfs = classes[vfs]!;
  const made = Vfs.create
    ? await Vfs.create('lab', module)
    : Object.assign(new Vfs(), { name: 'lab' });
  return { vfs: made as Record<string, unknown> };
}
