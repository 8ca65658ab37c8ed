/** What SQLite's primary result codes mean for a developer in a browser: sqlite.org/rescode.html */
const MEANINGS: Readonly<Record<number, string>> = {
  1: 'The statement is invalid, or uses something that does not exist.',
  3: 'Access to the file was denied.',
  4: 'A callback asked SQLite to stop, or a rollback ended the statement.',
  5: 'Another connection holds a lock that this one needs.',
  6: 'Another statement of the same connection, or of a shared cache, holds a conflicting lock.',
  7: 'The engine ran out of memory.',
  8: 'The database or its file is read-only.',
  9: 'Interrupted by sqlite3_interrupt().',
  10: 'The storage failed: the extended code names the operation.',
  11: 'The database is damaged.',
  12: 'Not found. For a file control: the VFS does not support the request.',
  13: 'The storage is full, or its quota is used up.',
  14: 'The file could not be opened: missing, or held exclusively by another handle.',
  15: 'Locks were taken in an order that WAL mode does not allow.',
  17: 'The schema changed under the statement; SQLite prepares it again automatically.',
  18: 'A value or text is larger than the limit.',
  19: 'A constraint failed: the extended code names which.',
  20: 'A value has the wrong type.',
  21: 'The API was misused.',
  22: 'The file is larger than the system allows.',
  23: 'The authorizer did not allow it.',
  25: 'The index of a parameter or column is out of range.',
  26: "The file isn't a database, or it's encrypted.",
};

/** What the platform's exceptions mean when a storage call throws them. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  NotFoundError:
    "The requested entry isn't there. A VFS uses this answer to learn whether a file exists.",
  NoModificationAllowedError: 'Another access handle, maybe in another tab, holds the file.',
  InvalidStateError: 'The handle or connection is closed already, or the file is in use.',
  QuotaExceededError: 'The storage that the browser gives this origin is used up.',
  AbortError:
    'Aborted: by the app, by an error of another request of the transaction, or because the lock was stolen.',
  ConstraintError: 'The key already exists.',
  DataError: 'A key of this kind cannot be stored.',
  TransactionInactiveError:
    'The IndexedDB transaction had already committed or ended before this request.',
  ReadOnlyError: 'A write in a readonly transaction.',
  VersionError: 'The database has a newer version.',
  UnknownError:
    'The browser failed to read or write its storage: a full disk, a damaged profile, ...',
  NotReadableError: 'The browser failed to read the file, or it changed in the meantime.',
  NotAllowedError: 'The permission is missing.',
  SecurityError: 'This origin may not use this storage: cookies blocked, an opaque origin, ...',
  DataCloneError: 'The value cannot be stored: it holds something that cannot be cloned.',
  TypeMismatchError:
    'The name belongs to a folder and the app asked for a file, or the other way around.',
};
/** One sentence; '' for names without one. @param name of a DOMException */
export const meaningOfException = (name: string): string =>
  Object.hasOwn(EXCEPTIONS, name) ? EXCEPTIONS[name]! : '';

/** One sentence; '' for success and for codes without one. @param result primary or extended */
export const meaningOfResult = (result: number): string =>
  result > 0 ? (MEANINGS[result & 255] ?? '') : '';
