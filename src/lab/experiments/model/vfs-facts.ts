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

/** Whether a VFS awaits, and so needs a build with JSPI or Asyncify. */
export const needsAsync = (vfs: Config['vfs']): boolean =>
  !['memory', 'MemoryVFS', 'AccessHandlePool', 'OPFSCoopSync', 'OPFSWriteAhead'].includes(vfs);
