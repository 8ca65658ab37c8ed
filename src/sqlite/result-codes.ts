/** SQLite's result codes by number, extended ones included: sqlite.org/rescode.html */
import { Rc } from './constants.ts';

/** Names of primary codes, without SQLITE_. */
export const PRIMARY: Readonly<Record<number, string>> = {
  0: 'OK',
  1: 'ERROR',
  2: 'INTERNAL',
  3: 'PERM',
  4: 'ABORT',
  5: 'BUSY',
  6: 'LOCKED',
  7: 'NOMEM',
  8: 'READONLY',
  9: 'INTERRUPT',
  10: 'IOERR',
  11: 'CORRUPT',
  12: 'NOTFOUND',
  13: 'FULL',
  14: 'CANTOPEN',
  15: 'PROTOCOL',
  16: 'EMPTY',
  17: 'SCHEMA',
  18: 'TOOBIG',
  19: 'CONSTRAINT',
  20: 'MISMATCH',
  21: 'MISUSE',
  22: 'NOLFS',
  23: 'AUTH',
  24: 'FORMAT',
  25: 'RANGE',
  26: 'NOTADB',
  27: 'NOTICE',
  28: 'WARNING',
  100: 'ROW',
  101: 'DONE',
};

/** Second byte of the extended codes, from 1, by primary code. */
const EXTENDED: Readonly<Record<number, readonly string[]>> = {
  0: ['LOAD_PERMANENTLY', 'SYMLINK'],
  1: ['MISSING_COLLSEQ', 'RETRY', 'SNAPSHOT', 'RESERVESIZE', 'KEY', 'UNABLE'],
  4: ['', 'ROLLBACK'],
  5: ['RECOVERY', 'SNAPSHOT', 'TIMEOUT'],
  6: ['SHAREDCACHE', 'VTAB'],
  8: ['RECOVERY', 'CANTLOCK', 'ROLLBACK', 'DBMOVED', 'CANTINIT', 'DIRECTORY'],
  10: [
    'READ',
    'SHORT_READ',
    'WRITE',
    'FSYNC',
    'DIR_FSYNC',
    'TRUNCATE',
    'FSTAT',
    'UNLOCK',
    'RDLOCK',
    'DELETE',
    'BLOCKED',
    'NOMEM',
    'ACCESS',
    'CHECKRESERVEDLOCK',
    'LOCK',
    'CLOSE',
    'DIR_CLOSE',
    'SHMOPEN',
    'SHMSIZE',
    'SHMLOCK',
    'SHMMAP',
    'SEEK',
    'DELETE_NOENT',
    'MMAP',
    'GETTEMPPATH',
    'CONVPATH',
    'VNODE',
    'AUTH',
    'BEGIN_ATOMIC',
    'COMMIT_ATOMIC',
    'ROLLBACK_ATOMIC',
    'DATA',
    'CORRUPTFS',
    'IN_PAGE',
  ],
  11: ['VTAB', 'SEQUENCE', 'INDEX'],
  14: ['NOTEMPDIR', 'ISDIR', 'FULLPATH', 'CONVPATH', 'DIRTYWAL', 'SYMLINK'],
  19: [
    'CHECK',
    'COMMITHOOK',
    'FOREIGNKEY',
    'FUNCTION',
    'NOTNULL',
    'PRIMARYKEY',
    'TRIGGER',
    'UNIQUE',
    'VTAB',
    'ROWID',
    'PINNED',
    'DATATYPE',
  ],
  23: ['USER'],
  27: ['RECOVER_WAL', 'RECOVER_ROLLBACK', 'RBU'],
  28: ['AUTOINDEX'],
};

/** `SQLITE_BUSY`, `SQLITE_IOERR_SHORT_READ`; the number where it has no name. */
export function resultName(code: number): string {
  const primary = PRIMARY[code & 255];
  if (primary === undefined || code < 0) return String(code);
  const extended = code >>> 8;
  if (extended === 0) return `SQLITE_${primary}`;
  const detail = EXTENDED[code & 255]?.[extended - 1];
  return detail ? `SQLITE_${primary}_${detail}` : `SQLITE_${primary} (extended ${extended})`;
}

/**
 * SHORT_READ is how a VFS reports the end of the file; ROW and DONE are how a step reports success.
 */
export function isErrorResult(code: number): boolean {
  return (
    code !== Rc.ok &&
    code !== Rc.row &&
    code !== Rc.done &&
    code !== Rc.shortRead &&
    (code & 255) !== 27 &&
    (code & 255) !== 28
  );
}
