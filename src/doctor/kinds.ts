/** Identifies a stored file or database by its first bytes, its name, and its object stores. */
import { suffixOf } from '../event/file-names.ts';
import { storedName, type StoredDatabase, type StoredFile } from '../protocol/page-storage.ts';

/** What SQLite stores next to a database, by its suffix. */
const COMPANIONS: Readonly<Record<string, string>> = {
  '-journal': 'rollback journal',
  '-wal': 'write-ahead log',
  '-shm': 'WAL index',
};

/** The VFS whose file pool it is in; null = none. */
export function poolOf({ path, pool }: StoredFile): string | null {
  if (pool === null) return null;
  return path.includes('/.opaque/') ? 'opfs-sahpool' : 'AccessHandlePool';
}

/** A journal, log, or WAL index by its suffix. null = none of these. */
export const companionKind = (file: StoredFile): string | null =>
  COMPANIONS[suffixOf(storedName(file))] ?? null;

/**
 * Its suffix is SQLite's, and other evidence agrees. Any app can name its own file `my-journal`.
 */
export const isCompanion = (file: StoredFile): boolean =>
  companionKind(file) !== null &&
  (Boolean(file.pool) || file.size === 0 || file.head === 'journal' || file.head === 'wal');

/** `database`, `rollback journal (hot)`, `write-ahead log, by its name`, `free place`, ... */
export function kindOfFile(file: StoredFile): string {
  const { head, pool, size, sqlite, path } = file;
  if (pool === '') return 'free place';
  if (head === 'database') return 'database';
  if (head === 'journal') return 'rollback journal (hot)';
  const companion = companionKind(file);
  if (companion) return isCompanion(file) ? companion : `${companion}, by its name`;
  if (head === 'wal') return 'write-ahead log';
  if (/-wa[01]$/.test(path)) return 'log of OPFSWriteAheadVFS';
  if (sqlite) return "database, behind a VFS's own bytes";
  if (size === null) return 'unknown';
  return size === 0 ? 'empty' : 'other';
}

/**
 * Which VFS or library created an IndexedDB database, by the names and keys of its stores. null =
 * its stores aren't known.
 */
export function kindOfDatabase({ stores }: StoredDatabase): string | null {
  if (stores === null) return null;
  const keys = new Map(stores.map(({ name, key }) => [name, key]));
  const has = (...names: string[]): boolean => names.every((name) => keys.has(name));
  const blocks = keys.get('blocks');
  if (blocks === 'path,offset,version')
    return has('metadata') ? 'IDBBatchAtomicVFS' : 'IDBBatchAtomicVFS, layout of wa-sqlite 1.0';
  if (blocks === 'name,index,version' && has('spill')) return 'IDBVersionedVFS';
  if (blocks === 'path,offset') return has('tx') ? 'IDBMirrorVFS' : 'IDBMinimalVFS';
  if (keys.get('pages') === 'i' && keys.get('pending') === 'txId')
    return 'page index of OPFSPermutedVFS';
  if (has('FILE_DATA')) return "Emscripten's IDBFS";
  if (has('data') && stores.length === 1) return 'absurd-sql, or another with one store "data"';
  return 'other';
}
