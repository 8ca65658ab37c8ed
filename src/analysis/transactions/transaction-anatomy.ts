/**
 * Anatomy of transactions: what each did between taking its first lock and releasing its last.
 *
 *   SHARED     |-----------------------------------------------|      asked, granted, left
 *   RESERVED        |-----------------------------------|
 *   EXCLUSIVE                         |-----------------|
 *   calls      r r   jw jw   (idle)    jw s s  dw dw s  u   u         r read  jw journal  s sync  dw database  u unlock
 *   commit                            |<------ cost -------->|
 *
 * The commit begins with the COMMIT statement; in autocommit with the statement's first call that
 * only a commit makes (EXCLUSIVE, a WAL or database write, a sync, BEGIN_ATOMIC_WRITE), where a
 * spill of the page cache in the same statement counts too.
 */
import { databaseFiles, type DatabaseFiles } from '../core/database-files.ts';
import { plainPath } from '../../event/file-names.ts';
import { AUX_WAL_HEADER, Flag, Op } from '../../event/event.ts';
import { isSqlOp, isVfsOp, MOVES, Moves } from '../../event/operations.ts';
import type { FileKind } from '../../event/definitions.ts';
import { SMALLEST_PAGE } from '../../sqlite/page-size.ts';
import { lowerBound } from '../../trace/number-columns.ts';
import { bytesMoved } from '../../trace/bytes-moved.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { toNs } from '../../trace/lanes/sweep.ts';
import { AnatomyTable, CALLS, VFS_CALLS, type CallCount } from './anatomy-table.ts';
import { appDatabases } from '../core/app-databases.ts';
import { computingCalls } from '../core/computing-calls.ts';
import { ById } from '../core/by-id.ts';
import { DistinctPlaces } from '../core/distinct-places.ts';
import { executions, type Executions } from '../core/executions.ts';
import { instructions, type CallInstructions } from '../core/instructions.ts';
import { getOrMake } from '../core/maps.ts';
import { fact } from '../core/graph.ts';
import {
  explicitTransactions,
  type ExplicitSpan,
  type ExplicitTransactions,
} from './explicit-transactions.ts';
import { owners } from '../core/owners.ts';
import { rowsByOperation, type RowsByOperation } from '../core/rows-by-operation.ts';
import type { Owners } from '../../trace/owners.ts';
import { CPU_PART, Completions, partOfCall, TransactionClock } from './transaction-time.ts';
import type { Transaction } from './transaction-table.ts';
import { fileOf, NO_FILE, type KnownFile } from './transaction-state.ts';
import { transactions } from './transactions.ts';
import { checkpoints, type Checkpoint } from '../wal/checkpoints.ts';
import { Fcntl, isRefusal, LockLevel } from '../../sqlite/constants.ts';
import { connectionKey } from '../../trace/lock-levels.ts';
import { definedAs, targetOf } from '../../trace/in-memory.ts';

export type { LadderStep, TransactionAnatomy } from './anatomy.ts';

/** Transactions between two pauses for other work: about 0.1 s. */
const AT_ONCE = 1 << 14;

/** Of every transaction, in their order. */
export const anatomies = fact(
  'anatomies',
  'what each transaction did',
  {
    transactions,
    owners,
    executions,
    explicitTransactions,
    checkpoints,
    appDatabases,
    computingCalls,
    databaseFiles,
    rowsByOperation,
    instructions,
  },
  function* (store, known): Generator<void, AnatomyTable> {
    const { list } = known.transactions;
    const table = new AnatomyTable(list);
    const scannerOf = (index: number): AnatomyScanner => {
      const thread = store.threads[index]!;
      const own = known.checkpoints.filter((c) => c.thread === index);
      own.sort((a, b) => a.toRow - b.toRow);
      return new AnatomyScanner(
        table,
        thread,
        known.owners.of(thread),
        known.executions.of(thread),
        known.explicitTransactions.of(thread),
        own,
        known.appDatabases.of(thread),
        known.computingCalls.of(thread),
        known.databaseFiles,
        known.rowsByOperation.of(thread),
        known.instructions.of(thread),
      );
    };
    const scanners: AnatomyScanner[] = [];
    for (let i = 0; i < list.length; i++) {
      if (i % AT_ONCE === AT_ONCE - 1) yield;
      const index = list.thread[i]!;
      (scanners[index] ??= scannerOf(index)).put(list.at(i));
    }
    return table;
  },
);

interface TransactionFile extends KnownFile {
  /** `main` without slashes in front. */
  plain: string;
  /**
   * Bytes of a page, as in all facts about pages. If they aren't known, the first length that was
   * moved; 0 = none was.
   */
  pageBytes: number;
  /** By operation: index in CALLS + 1 of the count for a call on it; 0 = none. */
  counted: Uint8Array;
  /** By operation: the part of the time for a call on it. */
  parts: Uint8Array;
}

/** What calls on a file of this kind count as. */
function countedOf(kind: FileKind): Uint8Array {
  const places = new Uint8Array(256);
  for (const [name, [op, of]] of Object.entries(VFS_CALLS))
    if (of === '' || of === kind) places[op] = 1 + CALLS.indexOf(name as CallCount);
  return places;
}
const countedByKind = new Map<FileKind, Uint8Array>();
const partsByKind = new Map<FileKind, Uint8Array>();
const partsOf = (kind: FileKind): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, op) => partOfCall(op, kind));
const inTransactions = (file: KnownFile): TransactionFile => ({
  ...file,
  plain: plainPath(file.main),
  pageBytes: 0,
  counted: getOrMake(countedByKind, file.kind, () => countedOf(file.kind)),
  parts: getOrMake(partsByKind, file.kind, () => partsOf(file.kind)),
});
const NONE = inTransactions(NO_FILE);

class AnatomyScanner {
  private readonly clock: TransactionClock;
  /** Rows of the first calls of executions, ascending. */
  private readonly executions: Uint32Array;
  /** By connection and file: the row after the last transaction's end. */
  private readonly ended = new Map<number, number>();
  /** By database and connection: the row after the last checkpoint. */
  private readonly copied = new Map<string, Map<number, number>>();
  private nextCheckpoint = 0;
  private readonly files = new ById<TransactionFile>();
  private readonly read = new DistinctPlaces();
  private readonly written = new DistinctPlaces();
  private readonly frames = new DistinctPlaces();

  /** The table has enough capacity, so its columns aren't replaced. */
  private readonly counts: readonly Uint32Array[];

  constructor(
    private readonly table: AnatomyTable,
    private readonly thread: ThreadStore,
    private readonly owners: Owners,
    { firstRow, count }: Executions,
    private readonly explicit: ExplicitTransactions,
    /** Those of the thread, in order. */
    private readonly checkpoints: readonly Checkpoint[],
    app: ReadonlySet<number>,
    private readonly computes: Uint8Array,
    private readonly databases: DatabaseFiles,
    rows: RowsByOperation,
    private readonly executed: CallInstructions,
  ) {
    this.clock = new TransactionClock(thread.events, new Completions(thread, rows, owners, app));
    this.executions = firstRow.subarray(0, count);
    this.counts = CALLS.map((name) => table[name]);
  }

  /** @param target from `targetOf` @returns NONE = it doesn't belong to one */
  private file(target: number): TransactionFile {
    const known = this.files.get(target);
    if (known !== undefined) return known;
    const file = fileOf(definedAs(this.thread.definitions, target));
    return this.files.set(target, file === NO_FILE ? NONE : inTransactions(file));
  }

  /**
   * The row after the connection's last checkpoint before a transaction: in one sqlite3_exec it
   * follows the previous commit.
   */
  private checkpointed({ object, context, beginRow }: Transaction): number {
    const { checkpoints, copied } = this;
    for (let c; (c = checkpoints[this.nextCheckpoint]) && c.toRow < beginRow; this.nextCheckpoint++)
      getOrMake(copied, plainPath(c.path), () => new Map<number, number>()).set(
        this.thread.events.context[c.fromRow]!,
        c.toRow + 1,
      );
    return copied.get(this.file(object).plain)?.get(context) ?? 0;
  }

  put(t: Transaction): void {
    const { events } = this.thread;
    const { clock, table } = this;
    const span = this.explicit.at(t.context, events.seq[t.beginRow]!);
    // if locks are kept, it begins with its statement, after the statement's earlier ones
    // (sqlite3_exec)
    const earliest = Math.max(t.lockRow, span?.beginRow ?? this.owners.statement(t.beginRow));
    const connection = connectionKey(t.object, t.context);
    const from = Math.min(
      t.beginRow,
      Math.max(
        earliest < 0 ? t.beginRow : earliest,
        this.ended.get(connection) ?? 0,
        this.checkpointed(t),
      ),
    );
    const toRow = this.lastUnlock(t);
    this.ended.set(connection, toRow + 1);
    const fromNs = toNs(events.t0[from]!);
    const toNsAll = toNs(events.t0[toRow]! + events.dur[toRow]!);
    const enclosing = this.owners.statement(from);
    const sqlUntil = enclosing < 0 ? -Infinity : clock.endOf(enclosing);
    clock.start(fromNs, toNsAll, sqlUntil);
    const i = table.begin(span ? 'explicit' : this.explicit.known ? 'autocommit' : null);
    table.fromUs[i] = events.t0[from]!;
    table.fromRow[i] = from;
    table.toUs[i] = toNsAll / 1000;
    table.beginStatementRow[i] = span?.beginRow ?? -1;
    table.endStatementRow[i] = span && this.endsWith(span, t) ? span.endRow : -1;
    table.statementsKnown[i] = this.executions.length > 0 ? 1 : 0;
    this.statementsIn(
      t,
      Math.min(from, span?.beginRow ?? from, enclosing < 0 ? from : enclosing),
      toRow,
    );
    const commit = t.outcome === 'committed' ? this.commitBegin(t, from, span) : -1;
    this.walk(t, from, toRow, commit);
    table.instructions[i] = this.executed.between(from, toRow);
    if (commit >= 0) {
      table.commitUs[i] = clock.markedNs / 1000;
      table.commitInstructions[i] = this.executed.between(commit, toRow);
    }
    table.spent(clock.ns, clock.marked);
  }

  private endsWith(span: ExplicitSpan, t: Transaction): boolean {
    return span.endRow >= 0 && this.thread.events.seq[t.endRow]! <= span.endSeq;
  }

  /** Row of the last unlock among the connection's next calls. */
  private lastUnlock(t: Transaction): number {
    const { op: ops, object, context, endSeq, count } = this.thread.events;
    let last = t.endRow;
    for (let row = t.endRow + 1; row < count; row++) {
      const op = ops[row]!;
      // readings of memory, messages, and other connections' calls may come in between
      if (context[row] !== t.context || !(isVfsOp(op) || isSqlOp(op))) continue;
      if (op === Op.xUnlock && object[row] === t.object) last = row;
      else if (op !== Op.xDeviceCharacteristics && op !== Op.xSectorSize) break;
    }
    return endSeq[last] === 0 ? t.endRow : last;
  }

  /** Row with which the commit begins, or -1. */
  private commitBegin(t: Transaction, from: number, span: ExplicitSpan | null): number {
    const { events } = this.thread;
    const statement = this.owners.statement(t.endRow);
    if (span && span.endRow === statement && statement >= from && span.beginRow !== statement)
      return statement;
    for (let row = Math.max(from, statement); row <= t.endRow; row++) {
      const op = events.op[row]!;
      if (!isVfsOp(op) || events.context[row] !== t.context) continue;
      const { kind } = this.file(targetOf(events, row));
      if (op === Op.xLock && events.aux[row] === LockLevel.exclusive) return row;
      if (op === Op.xFileControl && events.aux[row] === Fcntl.beginAtomicWrite) return row;
      if (op === Op.xSync && kind !== 'temp') return row;
      if (op === Op.xWrite && (kind === 'wal' || kind === 'main-db')) return row;
    }
    return t.commitRow;
  }

  /** Adds the executions in [from, to]. */
  private statementsIn(t: Transaction, from: number, to: number): void {
    const { events } = this.thread;
    const { executions, table } = this;
    let at = lowerBound(executions, from, executions.length);
    for (; at < executions.length && executions[at]! <= to; at++)
      if (events.context[executions[at]!] === t.context) table.addStatement(executions[at]!);
  }

  private walk(
    { path, context: own }: Transaction,
    from: number,
    to: number,
    commitRow: number,
  ): void {
    const { events } = this.thread;
    const { t0, op: ops, context, object, offset, aux, endSeq, flags } = events;
    const { read, written, frames, clock, table, counts, computes } = this;
    const { syncs, dbBytes, journalBytes, walBytes, webWrites, atomicBegins } = table;
    const i = table.length - 1;
    read.clear();
    written.clear();
    frames.clear();
    let framesDecoded = false;
    let file = NONE;
    let [lastObject, ofIt] = [-1, false];
    for (let row = from; row <= to; row++) {
      const op = ops[row]!;
      if (row === commitRow) clock.mark(toNs(t0[row]!));
      if (MOVES[op] === Moves.webWrite) webWrites[i]!++;
      if (context[row] !== own || op === 0) continue;
      if (!isVfsOp(op)) {
        if (isSqlOp(op)) clock.sqlCall(row);
        continue;
      }
      // like isTimedCall, for what isn't known yet
      if (endSeq[row] === 0 || flags[row]! & Flag.memoryJournal) continue;
      if (object[row] !== lastObject) {
        file = this.file((lastObject = object[row]!));
        ofIt = file !== NONE && file.main === path;
      }
      const { kind } = file;
      clock.vfsCall(row, computes[row] === 1 ? CPU_PART : (ofIt ? file : NONE).parts[op]!);
      if (!ofIt) continue;
      const counted = file.counted[op]!;
      if (counted > 0) counts[counted - 1]![i]!++;
      if (op === Op.xFileControl && aux[row] === Fcntl.beginAtomicWrite) atomicBegins[i]!++;
      if (op === Op.xLock || op === Op.xUnlock) this.step(row, op);
      if (op === Op.xSync) syncs[i]!++;
      if (op !== Op.xRead && op !== Op.xWrite) continue;
      const length = bytesMoved(this.thread.events, row);
      if (length === 0) continue;
      if (kind === 'main-db') {
        if (op === Op.xWrite) dbBytes[i]! += length;
        if (length < SMALLEST_PAGE) continue;
        const size = (file.pageBytes ||= this.pageBytes(object[row]!) ?? length);
        const first = Math.floor(offset[row]! / size);
        const behind = first + (length === size ? 1 : Math.max(1, Math.floor(length / size)));
        for (let place = first; place < behind; place++)
          if (op === Op.xRead) read.add(place);
          else if (written.add(place)) table.addPage(place + 1);
      } else if (op === Op.xRead) continue;
      else if (kind === 'journal') journalBytes[i]! += length;
      else if (kind === 'wal') {
        walBytes[i]! += length;
        const page = aux[row]!;
        if (page !== 0 && page !== AUX_WAL_HEADER) {
          framesDecoded = true;
          if (frames.add(page)) table.addPage(page);
        }
      }
    }
    clock.advance(Infinity);
    table.pagesRead[i] = read.size;
    table.pagesWritten[i] = walBytes[i] && !framesDecoded ? -1 : written.size + frames.size;
  }

  private pageBytes(object: number): number | null {
    const { list, parts } = this.databases;
    const part = parts[this.thread.index]!.get(object);
    return part ? list[part.database]!.pageSize.bytes : null;
  }

  /** A requested or released lock. */
  private step(row: number, op: number): void {
    const { table } = this;
    const { events } = this.thread;
    const at = events.t0[row]!;
    const level = events.aux[row]!;
    const rc = events.result[row]!;
    const end = at + events.dur[row]!;
    if (op === Op.xUnlock) {
      if (rc === 0) table.left(level, end);
    } else if (level >= LockLevel.shared && level <= LockLevel.exclusive) {
      const busy = isRefusal(rc);
      table.asked(level, at, rc === 0 ? end : NaN, busy);
      if (busy) table.busyRetries[table.length - 1]!++;
    }
  }
}
