/** The state of a database while its transactions are followed (transaction-scan.ts). */
import { databasePath } from '../../event/file-names.ts';
import type { Definition, FileKind } from '../../event/definitions.ts';
import type { CommitPoint } from './transaction-table.ts';

/** What is known about a file of SQLite. */
export interface KnownFile {
  kind: FileKind;
  path: string;
  /** Path of its database. */
  main: string;
}
/** The id isn't a file's. */
export const NO_FILE: KnownFile = { kind: 'other', path: '', main: '' };

/** The file of a definition; NO_FILE if it isn't one. */
export function fileOf(d: Definition | undefined): KnownFile {
  return d?.kind === 'file'
    ? { kind: d.fileKind, path: d.path, main: databasePath(d.path) }
    : NO_FILE;
}

/**
 * A database file that a connection of a thread has open, and what its current transaction did so
 * far: rows, -1 = nothing.
 */
export class Database {
  level = 0;
  spanRow = -1;
  spanWrites = 0;
  /** Commits since the last xLock or xUnlock call: more than one shows that locks are kept. */
  commitsAtLevel = 0;
  writeRow = -1;
  reserved = false;
  /** A WAL is in use, so writes to the database come from checkpoints. */
  inWal = false;
  dbWrite = -1;
  walWrite = -1;
  walCommit = -1;
  /**
   * Row of the last commit frame, even of an earlier transaction, until another frame follows; -1 =
   * none.
   */
  lastFrame = -1;
  journalWrite = -1;
  journalRead = -1;
  /**
   * RESERVED was taken to delete a journal that remained beside an empty database, before anything
   * is read: this isn't a transaction.
   */
  leftOver = false;
  point = -1;
  pointKind: CommitPoint | null = null;

  constructor(
    readonly path: string,
    readonly object: number,
    readonly context: number,
  ) {}

  get wrote(): boolean {
    return this.dbWrite >= 0 || this.walWrite >= 0 || this.journalWrite >= 0 || this.point >= 0;
  }
  forget(): void {
    this.writeRow =
      this.dbWrite =
      this.walWrite =
      this.walCommit =
      this.journalWrite =
      this.journalRead =
      this.point =
        -1;
    this.pointKind = null;
    this.leftOver = false;
  }
}
