/** What a stored file or database is, by its first bytes, its name, and its object stores. */
import { suffixOf } from '../event/file-names.ts';
import { storedName, type StoredDatabase, type StoredFile } from '../protocol/page-storage.ts';

/** SQLite's names for what lies beside a database. */
const BESIDE: Readonly<Record<string, string>> = {
  '-journal': 'rollback journal',
  '-wal': 'write-ahead log',
  '-shm': 'WAL index',
};

/** The VFS whose pool of files it is in; null = none's. */
export function poolOf({ path, pool }: StoredFile): string | null {
  if (pool === null) return null;
  return path.includes('/.opaque/') ? 'opfs-sahpool' : 'AccessHandlePool';
}

/** `database`, `rollback journal (hot)`, `free place`, ... */
export function kindOfFile(file: StoredFile): string {
  const { head, pool, size, sqlite, path } = file;
  if (pool === '') return 'free place';
  if (head === 'database') return 'database';
  const beside = BESIDE[suffixOf(storedName(file))];
  if (head === 'journal') return 'rollback journal (hot)';
  if (beside) return beside;
  if (head === 'wal') return 'write-ahead log';
  if (/-wa[01]$/.test(path)) return 'log of OPFSWriteAheadVFS';
  if (sqlite) return "database, behind a VFS's own bytes";
  if (size === null) return 'unknown';
  return size === 0 ? 'empty' : 'other';
}

/** Which VFS or library made a database of IndexedDB: the names and keys of its stores. null = its stores aren't known. */
export function kindOfDatabase({ stores }: StoredDatabase): string | null {
  if (stores === null) return null;
  const keys = new Map(stores.map(({ name, key }) => [name, key]));
  const has = (...names: string[]): boolean => names.every((name) => keys.has(name));
  const blocks = keys.get('blocks');
  if (blocks === 'path,offset,version') {
    if (has('spill')) return 'IDBVersionedVFS';
    return has('metadata') ? 'IDBBatchAtomicVFS' : 'IDBBatchAtomicVFS, layout of wa-sqlite 1.0';
  }
  if (blocks === 'path,offset') return has('tx') ? 'IDBMirrorVFS' : 'IDBMinimalVFS';
  if (has('pages', 'pending')) return 'page index of OPFSPermutedVFS';
  if (has('FILE_DATA')) return "Emscripten's IDBFS";
  if (has('data') && stores.length === 1) return 'absurd-sql, or another with one store "data"';
  return 'other';
}
