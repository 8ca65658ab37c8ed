/**
 * SQLite's names of a database's files (https://www.sqlite.org/tempfiles.html), and how two names of one file are known to be one. What
 * runs in a page as text (src/page-copy) has rules of its own: it can import nothing.
 */
import type { FileKind } from './definitions.ts';

/** What SQLite appends to the name of a database. */
const SUFFIX = /-(?:journal|wal|shm)$/;

/** `/app.db`, `app.db` and `//app.db` name one file: VFSs differ in the leading slash. */
export const plainPath = (path: string): string => path.replace(/^\/+/, '');

export const isWalPath = (path: string): boolean => path.endsWith('-wal');

/** `-journal`, `-wal` or `-shm` at the end of a name, else ''. */
export const suffixOf = (path: string): string => SUFFIX.exec(path)?.[0] ?? '';

/** Path of the database that a journal, WAL or its index belongs to; another file's own. */
export const databasePath = (path: string): string => path.replace(SUFFIX, '');

/** Of a database, its journal and its WAL: what they have in common. */
export const databaseName = (path: string): string => plainPath(databasePath(path));

/** What a file is by its name alone: for a file that is deleted or asked for before it was ever seen opened. */
export function fileKindOfPath(path: string): FileKind {
  if (/-journal$|-mj[0-9A-F]{6}9[0-9A-F]{2}$/.test(path)) return 'journal';
  return path.endsWith('-wal') ? 'wal' : 'other'; // not by isWalPath: every byte of the hook is parsed by every page
}
