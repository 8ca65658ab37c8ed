/** SQLite's names of a database's files (https://www.sqlite.org/tempfiles.html), and how two names of one file are known to be one. */
import type { FileKind } from './definitions.ts';

/** `/app.db`, `app.db` and `//app.db` name one file: VFSs differ in the leading slash. */
export const plainPath = (path: string): string => path.replace(/^\/+/, '');

export const isWalPath = (path: string): boolean => path.endsWith('-wal');

/** Path of the database that a journal or WAL belongs to; another file's own. */
export const databasePath = (path: string): string => path.replace(/-(journal|wal)$/, '');

/** Of a database, its journal and its WAL: what they have in common. */
export const databaseName = (path: string): string => plainPath(databasePath(path));

/** What a file is by its name alone: for a file that is deleted or asked for before it was ever seen opened. */
export function fileKindOfPath(path: string): FileKind {
  if (/-journal$|-mj[0-9A-F]{6}9[0-9A-F]{2}$/.test(path)) return 'journal';
  return path.endsWith('-wal') ? 'wal' : 'other'; // not by isWalPath: every byte of the hook is parsed by every page
}
