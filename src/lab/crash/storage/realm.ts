/**
 * Replaces the browser's storage by the emulated storage while a VFS runs on it. VFSs find storage
 * by global names, so their published code runs unchanged. Only for our own realms, with one
 * storage at a time.
 */
import { replace, seedRealm } from '../../meter/seeded-realm.ts';
import { EmulatedFactory, EmulatedRequest } from './idb.ts';
import { KeyRange } from './idb-keys.ts';
import type { LiveStorage } from './live-storage.ts';
import { EmulatedLocks } from './locks.ts';
import { EmulatedAccessHandle, EmulatedFile, EmulatedFolder, EmulatedHandle } from './opfs.ts';

/** A channel without other listeners. */
class SilentChannel extends EventTarget {
  onmessage: unknown = null;
  constructor(readonly name: string) {
    super();
  }
  postMessage(): void {}
  close(): void {}
}

const SEED = 12345;

/** @returns a function that restores the realm's storage */
export function emulate(storage: LiveStorage): () => void {
  const root = new EmulatedFolder('', storage);
  const globals: Record<string, unknown> = {
    navigator: {
      storage: { getDirectory: () => Promise.resolve(root) },
      locks: new EmulatedLocks(),
    },
    self: globalThis,
    indexedDB: new EmulatedFactory(storage),
    IDBKeyRange: KeyRange,
    IDBRequest: EmulatedRequest,
    BroadcastChannel: SilentChannel,
    FileSystemHandle: EmulatedHandle,
    FileSystemFileHandle: EmulatedFile,
    FileSystemDirectoryHandle: EmulatedFolder,
    FileSystemSyncAccessHandle: EmulatedAccessHandle,
  };
  // file names and parts of SQLite's journals are random
  const restore = [seedRealm({ seed: SEED, clock: false })];
  for (const [name, value] of Object.entries(globals))
    restore.push(replace(globalThis as Record<string, unknown>, name, value));
  // VFSs report each recovery there
  for (const name of ['warn', 'error'] as const)
    restore.push(replace(console, name, () => undefined));
  return () => restore.reverse().forEach((put) => put());
}
