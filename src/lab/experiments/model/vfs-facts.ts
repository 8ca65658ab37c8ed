/** What a VFS is like before anything runs on it: whether it lets several connections in at once, and whether it awaits. */
import type { Config, VfsName } from './types.ts';

const ALONE: Partial<Record<VfsName, string>> = {
  memory: "a database in memory is its connection's own",
  MemoryVFS: 'its files are those of one worker',
  MemoryAsyncVFS: 'its files are those of one worker',
  BlockIDB: 'it takes no locks: one connection only',
  AccessHandlePool: 'it holds the access handles of all its files for as long as it lives',
};

/** @returns why several workers cannot have one database with these settings; null where they can */
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
};
/** Where it stores: `in memory`, `IndexedDB`, `OPFS`. */
export const placeOf = (vfs: VfsName): string => PLACES[vfs];
/** Its name, and where it stores: `AccessHandlePool (OPFS)`. */
export const vfsTitle = (vfs: VfsName): string =>
  `${vfs === 'memory' ? ':memory:' : vfs} (${placeOf(vfs)})`;

const MOST_NAMED = 3;
/** What some runs are on, behind their title: `on MemoryVFS (in memory) and BlockIDB (IndexedDB)`. */
export function onWords(vfs: readonly VfsName[]): string {
  const all = [...new Set(vfs)];
  if (all.length <= MOST_NAMED) return `on ${all.map(vfsTitle).join(' and ')}`;
  return `on ${all.length} VFSs (${[...new Set(all.map(placeOf))].join(', ')})`;
}

/** Whether a VFS awaits, and so needs a build with JSPI or Asyncify. */
export const needsAsync = (vfs: Config['vfs']): boolean =>
  !['memory', 'MemoryVFS', 'AccessHandlePool', 'OPFSCoopSync', 'OPFSWriteAhead'].includes(vfs);
