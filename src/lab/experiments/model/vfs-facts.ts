/**
 * Static facts about a VFS: whether it supports several connections at once, and whether it awaits.
 */
import { ABSURD_SQL_JS, isBundled, SQLITE_ORG } from './engine-names.ts';
import {
  VFS_NAMES,
  type Config,
  type EngineBuild,
  type JournalMode,
  type VfsName,
} from './types.ts';

const ALONE: Partial<Record<VfsName, string>> = {
  memory: "a database in memory is its connection's own",
  MemoryVFS: 'its files are those of one worker',
  MemoryAsyncVFS: 'its files are those of one worker',
  BlockIDB: 'it takes no locks: one connection only',
  AccessHandlePool: 'it holds the access handles of all its files for as long as it lives',
  'opfs-sahpool': 'it holds the access handles of all its files for as long as it lives',
};

/** @returns why several workers can't use one database with these settings; null where they can */
export function whyNotShared({
  vfs,
  lockingMode,
}: Pick<Config, 'vfs' | 'lockingMode'>): string | null {
  const reason = ALONE[vfs];
  if (reason !== undefined) return `${vfs} cannot be shared: ${reason}.`;
  return lockingMode === 'exclusive' ? 'Exclusive locking keeps every other connection out.' : null;
}

const PLACES: Readonly<Record<VfsName, string>> = {
  memory: 'in memory',
  MemoryVFS: 'in memory',
  MemoryAsyncVFS: 'in memory',
  BlockIDB: 'IndexedDB',
  IDBBatchAtomic: 'IndexedDB',
  IDBMirror: 'IndexedDB',
  AccessHandlePool: 'OPFS',
  OPFSCoopSync: 'OPFS',
  OPFSAdaptive: 'OPFS',
  OPFSAnyContext: 'OPFS',
  OPFSPermuted: 'OPFS and IndexedDB',
  OPFSWriteAhead: 'OPFS',
  'opfs-sahpool': 'OPFS',
  opfs: 'OPFS',
  'opfs-wl': 'OPFS',
  'absurd-sql': 'IndexedDB',
};
/** Where it stores: `in memory`, `IndexedDB`, `OPFS`. */
export const placeOf = (vfs: VfsName): string => PLACES[vfs];
/** Whether its data survives its process. */
export const keepsData = (vfs: VfsName): boolean => placeOf(vfs) !== 'in memory';
/** Its name, and where it stores: `AccessHandlePool (OPFS)`. */
export const vfsTitle = (vfs: VfsName): string =>
  `${vfs === 'memory' ? ':memory:' : vfs} (${placeOf(vfs)})`;

const MOST_NAMED = 3;
/** The VFSs of some runs, for their title: `on MemoryVFS (in memory) and BlockIDB (IndexedDB)`. */
export function onWords(vfs: readonly VfsName[]): string {
  const all = [...new Set(vfs)];
  if (all.length <= MOST_NAMED) return `on ${all.map(vfsTitle).join(' and ')}`;
  return `on ${all.length} VFSs (${[...new Set(all.map(placeOf))].join(', ')})`;
}

const AWAITS: readonly VfsName[] = [
  'MemoryAsyncVFS',
  'BlockIDB',
  'IDBBatchAtomic',
  'IDBMirror',
  'OPFSAdaptive',
  'OPFSAnyContext',
  'OPFSPermuted',
];
/** Whether a VFS awaits, and so needs a build with JSPI or Asyncify. */
export const needsAsync = (vfs: Config['vfs']): boolean => AWAITS.includes(vfs);

const OWN_ENGINES: Partial<Record<VfsName, EngineBuild>> = {
  'opfs-sahpool': SQLITE_ORG,
  opfs: SQLITE_ORG,
  'opfs-wl': SQLITE_ORG,
  'absurd-sql': ABSURD_SQL_JS,
};
/**
 * The only build that runs a VFS, because it contains the VFS; undefined: any build can use it, as
 * wa-sqlite's and our VFSs are objects.
 */
export const ownEngineOf = (vfs: VfsName): EngineBuild | undefined => OWN_ENGINES[vfs];

/**
 * The journal mode of a run that sets none; null: the build's default. absurd-sql stores no
 * journal, and its documentation sets this mode.
 */
export const ownJournalOf = (vfs: VfsName): JournalMode | null =>
  vfs === 'absurd-sql' ? 'memory' : null;

/** VFSs of wa-sqlite 1.0.0 that the Lab runs; 2.0.6 has them all. */
const OF_FIRST: readonly VfsName[] = [
  'memory',
  'MemoryVFS',
  'MemoryAsyncVFS',
  'AccessHandlePool',
  'IDBBatchAtomic',
];
/** Synchronous VFSs, which need no help from wa-sqlite's API. */
const PLAIN: readonly VfsName[] = ['memory', 'MemoryVFS', 'AccessHandlePool'];

/** VFSs that don't need a browser. */
export const NODE_VFS: readonly VfsName[] = ['memory', 'MemoryVFS', 'MemoryAsyncVFS'];

/** VFSs that an engine supports, in any environment. */
function vfsFor(engine: EngineBuild, all: readonly VfsName[]): readonly VfsName[] {
  const own = all.filter((vfs) => ownEngineOf(vfs) === engine);
  if (isBundled(engine))
    return engine === 'wa-sqlite-1.0.0' ? OF_FIRST : all.filter((vfs) => !ownEngineOf(vfs));
  if (engine === 'native') return ['memory'];
  return [...(/^(?:@journeyapps\/)?wa-sqlite(?:@|$)/.test(engine) ? NODE_VFS : PLAIN), ...own];
}
/** Whether an engine can run on it. */
export const isAvailable = (vfs: VfsName, engine: EngineBuild): boolean =>
  vfsFor(engine, [vfs]).includes(vfs);
/** @returns why an engine can't run on a VFS, as the end of a sentence; null where it can */
export const whyNotOn = (vfs: VfsName, engine: EngineBuild): string | null =>
  isAvailable(vfs, engine)
    ? null
    : `${engine} has no VFS ${vfs}: it runs on ${vfsFor(engine, VFS_NAMES).join(', ')}`;
