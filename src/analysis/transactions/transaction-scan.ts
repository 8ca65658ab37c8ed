/**
 * Finds the transactions of one thread, call by call. transactions.ts describes how they are
 * detected.
 */
import { SMALLEST_PAGE } from '../../sqlite/page-size.ts';
import { getOrMake } from '../core/maps.ts';
import { AUX_WAL_HEADER, Op } from '../../event/event.ts';
import { isVfsOp } from '../../event/operations.ts';
import type { FileKind } from '../../event/definitions.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { ById } from '../core/by-id.ts';
import { Database, fileOf, NO_FILE, type KnownFile } from './transaction-state.ts';
import { TransactionTable, type CommitPoint, type Transaction } from './transaction-table.ts';
import { Fcntl, LockLevel } from '../../sqlite/constants.ts';
import { connectionKey, levelAfter, SETS_LEVEL, tookEffect } from '../../trace/lock-levels.ts';
import { definedAs, targetOf } from '../../trace/in-memory.ts';

const { shared: SHARED, reserved: RESERVED } = LockLevel;

/**
 * Whether a connection may have locked the database for writing.
 * @param context of the connection; 0 = not known
 */
const mayWrite = (database: Database, context: number): boolean =>
  database.level >= RESERVED && (context === 0 || database.context === context);

/** Follows one thread; `advance` takes in what arrived since. */
export class TransactionScanner {
  /** Commits may have been missed, because the trace doesn't have what would show them. */
  commitsUnknown = false;
  /** Read transactions may have been missed, because a lock is kept over several transactions. */
  readsUnknown = false;
  /** Headers of WAL frames were decoded, so commit frames are known. */
  private framesSeen = false;
  /** Transactions in a WAL show neither rollbacks nor reads. */
  walSeen = false;
  private next = 0;
  /** The call whose end is awaited, and how many rows were checked for a sign that it is over. */
  private held = { row: -1, looked: 0 };
  private readonly files = new ById<KnownFile>();
  /** By object id and connection; files of one path share their id. */
  private readonly databases = new Map<number, Database>();
  private latest: Database | null = null;
  private readonly latestOfPath = new Map<string, Database>();
  /** xFileControl calls are recorded on this thread, so COMMIT_PHASETWO would be seen. */
  private controls = false;

  constructor(
    private readonly thread: ThreadStore,
    /** Takes in those found. */
    readonly transactions = new TransactionTable(),
  ) {
    const { events } = thread;
    for (let i = 0; i < events.count && !this.controls; i++)
      this.controls = events.op[i] === Op.xFileControl;
  }

  /** @param toEnd false stops before the first VFS call that still runs, unless its end was lost */
  advance(toEnd = true): void {
    const { op: ops, endSeq, count } = this.thread.events;
    let row = this.next;
    for (; row < count; row++) {
      const op = ops[row]!;
      if (!isVfsOp(op)) continue;
      if (!toEnd && endSeq[row] === 0 && !this.isOver(row)) break;
      if (op === Op.xFileControl) this.controls = true;
      if (endSeq[row] !== 0) this.call(row, op);
    }
    this.next = row;
  }

  /**
   * Whether a call has ended unseen: its connection, which makes one at a time, has begun another
   * that isn't inside it.
   */
  private isOver(row: number): boolean {
    const { events } = this.thread;
    const { op, context, object, count } = events;
    if (this.held.row !== row) this.held = { row, looked: row + 1 };
    const own = context[row]!;
    for (let later = this.held.looked; later < count; later++) {
      if (!isVfsOp(op[later]!) || context[later] !== own) continue;
      if (own === 0 && object[later] !== object[row]) continue; // its connection isn't known
      if (!events.serves(later, row)) return true;
    }
    this.held.looked = count;
    return false;
  }

  private call(row: number, op: number): void {
    const { events, definitions } = this.thread;
    const target = targetOf(events, row);
    const file =
      this.files.get(target) ?? this.files.set(target, fileOf(definedAs(definitions, target)));
    if (file === NO_FILE) return;
    // many VFSs return NOTFOUND for COMMIT_PHASETWO
    const failed = events.result[row] !== 0 && op !== Op.xRead && op !== Op.xFileControl;
    if (SETS_LEVEL[op] ? !tookEffect(events, row) : failed) return;
    const { kind } = file;
    if (kind === 'main-db')
      return this.databaseCall(row, op, this.database(row, target, file.path));
    const owner = this.ownerOf(kind, file.main, events.context[row]!);
    if (!owner) return;
    if (kind === 'wal') this.walCall(row, op, owner);
    else this.journalCall(row, op, owner, kind);
  }

  private database(row: number, object: number, path: string): Database {
    const context = this.thread.events.context[row]!;
    const { latest } = this;
    return latest?.object === object && (latest.context === context || context === 0)
      ? latest
      : this.other(object, context, path);
  }
  /**
   * Separate from `database`, which runs for every call: closures in a function allocate a context
   * at each call.
   */
  private other(object: number, context: number, path: string): Database {
    const key = connectionKey(object, context);
    const database = getOrMake(this.databases, key, () => new Database(path, object, context));
    this.latestOfPath.set(path, database);
    return (this.latest = database);
  }

  /**
   * The database of a journal or WAL: the one of its name that may write, else the last used one.
   */
  private ownerOf(kind: FileKind, main: string, context: number): Database | undefined {
    const { latest } = this;
    if (kind === 'memory-journal') {
      for (const database of this.databases.values())
        if (mayWrite(database, context)) return database;
      return undefined;
    }
    if (kind !== 'journal' && kind !== 'wal') return undefined;
    if (latest?.path === main && mayWrite(latest, context)) return latest;
    for (const database of this.databases.values())
      if (database.path === main && mayWrite(database, context)) return database;
    return this.latestOfPath.get(main);
  }

  private databaseCall(row: number, op: number, db: Database): void {
    const { events } = this.thread;
    const aux = events.aux[row]!;
    switch (op) {
      case Op.xLock:
        db.commitsAtLevel = 0;
        if (db.level === 0 && aux >= SHARED) {
          db.spanRow = row;
          db.spanWrites = 0;
        }
        if (aux >= RESERVED && db.writeRow < 0) db.writeRow = row;
        if (aux === RESERVED) db.reserved = true;
        db.level = levelAfter(op, db.level, aux);
        return;
      case Op.xUnlock:
      case Op.xOpen: // the xClose before it may be lost
      case Op.xClose:
        this.unlock(row, op === Op.xUnlock ? aux : 0, db);
        if (op !== Op.xUnlock) {
          this.databases.delete(connectionKey(db.object, db.context));
          this.latest = null;
        }
        return;
      case Op.xWrite:
        if (db.inWal) return;
        db.dbWrite = row;
        if (db.writeRow < 0) db.writeRow = row;
        return;
      case Op.xFileControl:
        if (aux === Fcntl.commitAtomicWrite && events.result[row] === 0) {
          db.point = row;
          db.pointKind = 'atomic write';
        } else if (aux === Fcntl.commitPhaseTwo) this.phaseTwo(row, db);
        return;
    }
  }

  private phaseTwo(row: number, db: Database): void {
    db.lastFrame = -1; // padding comes before this
    const wal = this.framesSeen ? db.walCommit : db.walWrite;
    if (wal >= 0) this.commit(row, db, wal, 'wal');
    else if (db.pointKind) this.commit(row, db, db.point, db.pointKind);
    else if (db.dbWrite >= 0) this.commit(row, db, db.dbWrite, 'database write');
    else if (db.writeRow >= 0) this.end(row, db, 'nothing written', -1, null);
  }

  private unlock(row: number, level: number, db: Database): void {
    if (level >= db.level) return;
    if (db.level >= RESERVED) {
      if (
        !this.controls &&
        !db.pointKind &&
        db.walWrite < 0 &&
        db.dbWrite >= 0 &&
        db.journalRead <= db.journalWrite
      )
        this.commit(row, db, db.dbWrite, 'database write');
      else if (db.reserved && db.writeRow >= 0 && (db.wrote || !db.leftOver)) {
        const rolledBack = db.wrote || this.controls; // a commit would have ended it before
        this.end(row, db, rolledBack ? 'rolled back' : 'nothing written', -1, null);
      }
      db.reserved = false;
      db.forget();
    }
    if (level === 0 && db.spanRow >= 0) {
      if (db.spanWrites === 0) this.add(db, 'read', 'nothing written', db.spanRow, row, -1, null);
      db.spanRow = -1;
    }
    db.level = level;
    db.commitsAtLevel = 0;
  }

  private walCall(row: number, op: number, db: Database): void {
    const { events } = this.thread;
    if (op === Op.xRead || op === Op.xWrite) db.inWal = this.walSeen = true;
    else if (op === Op.xClose || op === Op.xDelete) {
      if (db.inWal && !db.wrote) db.writeRow = -1; // locked for the checkpoint that closes the log
      db.inWal = false;
    }
    if (op === Op.xSync) db.lastFrame = -1; // padding comes before
    if (op !== Op.xWrite) return;
    const page = events.aux[row]!;
    const isFrame = page !== 0 && page !== AUX_WAL_HEADER;
    this.framesSeen ||= isFrame;
    // a log's header is written by the first commit to it, before its frames; anything else is the
    // page of a frame
    if (db.writeRow < 0 && (page !== 0 || !this.framesSeen)) db.writeRow = row;
    db.walWrite = row;
    if (isFrame) {
      const isCommit = events.aux2[row] !== 0;
      if (isCommit && !this.isPadding(row, db.lastFrame)) db.walCommit = row;
      if (isCommit) db.lastFrame = row;
      else if (db.lastFrame >= 0 && events.offset[row]! > events.offset[db.lastFrame]!)
        db.lastFrame = -1;
    }
    if (this.controls) return;
    if (!this.framesSeen) this.commitsUnknown ||= page !== AUX_WAL_HEADER;
    else if (db.walCommit >= 0 && db.walCommit !== row) this.commit(row, db, db.walCommit, 'wal'); // its page bytes
  }

  /**
   * synchronous=full repeats the last commit frame up to the end of a sector. If a transaction
   * spilled, the checksums of its frames are corrected, the commit frame's last.
   * @param before the commit frame right before, or -1
   */
  private isPadding(row: number, before: number): boolean {
    if (before < 0) return false;
    const { aux, aux2, parent, offset } = this.thread.events;
    const follows = offset[row]! >= offset[before]!;
    return (
      follows &&
      aux[row] === aux[before] &&
      aux2[row] === aux2[before] &&
      parent[row] === parent[before]
    );
  }

  private journalCall(row: number, op: number, db: Database, kind: FileKind): void {
    const { events } = this.thread;
    const length = events.length[row]!;
    // what SQLite writes to zero a header
    const zeroed = op === Op.xWrite && length === 28 && events.offset[row] === 0;
    // playback reads page images; a commit's own reads of its journal are shorter
    if (op === Op.xRead && length >= SMALLEST_PAGE) db.journalRead = row;
    else if (op === Op.xWrite && !zeroed) {
      if (db.point >= 0 && db.pointKind !== 'atomic write')
        this.end(row, db, 'rolled back', -1, null); // done, without COMMIT_PHASETWO
      db.journalWrite = row;
      if (db.writeRow < 0) db.writeRow = row;
    }
    if (kind !== 'journal') return;
    if (op === Op.xDelete) this.journalDone(row, db, 'journal deleted');
    else if (op === Op.xTruncate && events.offset[row] === 0)
      this.journalDone(row, db, 'journal truncated');
    else if (zeroed) this.journalDone(row, db, 'journal zeroed');
    else if (op === Op.xSync && db.journalRead >= 0) db.journalRead = -1; // rollback of a savepoint
  }

  private journalDone(row: number, db: Database, kind: CommitPoint): void {
    if (db.journalWrite < 0) {
      db.leftOver = kind === 'journal deleted'; // or a hot one, played back under EXCLUSIVE
      return;
    }
    if (this.controls) {
      db.point = row;
      db.pointKind = kind;
    } else if (db.journalRead > db.journalWrite) this.end(row, db, 'rolled back', -1, null);
    else this.commit(row, db, row, kind);
  }

  private commit(row: number, db: Database, commitRow: number, point: CommitPoint): void {
    if (++db.commitsAtLevel > 1) this.readsUnknown = true;
    this.end(row, db, 'committed', commitRow, point);
  }

  private end(
    row: number,
    db: Database,
    outcome: Transaction['outcome'],
    commitRow: number,
    point: CommitPoint | null,
  ): void {
    this.add(db, 'write', outcome, db.writeRow < 0 ? row : db.writeRow, row, commitRow, point);
    db.spanWrites++;
    db.forget();
  }

  private add(
    db: Database,
    kind: Transaction['kind'],
    outcome: Transaction['outcome'],
    beginRow: number,
    endRow: number,
    commitRow: number,
    commitPoint: CommitPoint | null,
  ): void {
    const { events, index } = this.thread;
    const beginUs = events.t0[beginRow]!;
    const endUs = events.t0[endRow]! + events.dur[endRow]!;
    const lockRow = db.spanWrites === 0 ? db.spanRow : -1;
    const { path, object, context } = db;
    // prettier-ignore
    this.transactions.push({ thread: index, path, kind, outcome, beginRow, endRow, commitRow, lockRow, object, context, commitPoint, beginUs, endUs });
  }
}
