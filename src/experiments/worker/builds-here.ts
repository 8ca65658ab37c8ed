/** Which build of an engine a VFS runs on in this browser. */
import { needsAsync } from '../plan.ts';
import type { Config, VfsName } from '../types.ts';

/** JSPI is there where `WebAssembly.Suspending` is. */
export const hasJspi = (): boolean => 'Suspending' in WebAssembly;

/** The build for a VFS: sync where that is enough, else JSPI, and Asyncify where this browser has no JSPI or the engine no such build. */
export function buildFor(vfs: VfsName, engine: Config['engine'], jspi = hasJspi()): Config['build'] {
  if (!needsAsync(vfs)) return 'sync';
  return jspi && engine === 'wa-sqlite-2.0.6' ? 'jspi' : 'asyncify';
}

/** VFSs of wa-sqlite 1.0.0 that the Lab runs; 2.0.6 has them all. */
const OF_FIRST: readonly VfsName[] = ['memory', 'MemoryVFS', 'MemoryAsyncVFS', 'AccessHandlePool', 'IDBBatchAtomic'];
/** Whether there is such a VFS for this engine. */
export const isAvailable = (vfs: VfsName, engine: Config['engine']): boolean => engine === 'wa-sqlite-2.0.6' || OF_FIRST.includes(vfs);
