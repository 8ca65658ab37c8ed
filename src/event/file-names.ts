/**
 * SQLite's names of a database's files (https://www.sqlite.org/tempfiles.html), and how to match
 * two names of one file. Code that runs in a page as text (src/page-copy) has its own rules,
 * because it can't import anything.
 */
import type { FileKind } from './definitions.ts';

/** What SQLite appends to the name of a database. */
const SUFFIX = /-(?:journal|wal|shm)$/;

/** `/app.db`, `app.db` and `//app.db` name one file: VFSs differ in the leading slash. */
export const plainPath = (path: string): string => path.replace(/^\/+/, '');

export const isWalPath = (path: string): boolean => path.endsWith('-wal');

/** `-journal`, `-wal`, or `-shm` at the end of a name, else ''. */
export const suffixOf = (path: string): string => SUFFIX.exec(path)?.[0] ?? '';

/**
 * Path of the database that a journal, a WAL, or its index belongs to; other paths are unchanged.
 */
export const databasePath = (path: string): string => path.replace(SUFFIX, '');

/** The name that a database shares with its journal and its WAL. */
export const databaseName = (path: string): string => plainPath(databasePath(path));

/**
 * A file's kind from its name alone, for a file that is deleted or looked up before it was seen
 * opened.
 */
export function fileKindOfPath(path: string): FileKind {
  if (/-journal$|-mj[0-9A-F]{6}9[0-9A-F]{2}$/.test(path)) return 'journal';
  // not by isWalPath, because every page has to parse each byte of the hook
  return path.endsWith('-wal') ? 'wal' : 'other';
}
