/**
 * Anatomy of transactions: what each did between taking its first lock and giving back its last.
 *
 *   SHARED     |-----------------------------------------------|      asked, granted, left
 *   RESERVED        |-----------------------------------|
 *   EXCLUSIVE                         |-----------------|
 *   calls      r r   jw jw   (idle)    jw s s  dw dw s  u   u         r read  jw journal  s sync  dw database  u unlock
 *   commit                            |<------ cost -------->|
 *
 * The commit begins with the COMMIT statement; in autocommit with the statement's first call that only a commit makes (EXCLUSIVE, a
 * WAL or database write, a sync, BEGIN_ATOMIC_WRITE), where a spill of the page cache in the same statement counts too.
 */
import { statementRow } from '../describe.ts';
import { AUX_WAL_HEADER, Flag, Op, type FileKind } from '../event.ts';
import type { ThreadStore, TraceStore } from '../store.ts';
import { toNs } from '../sweep.ts';
import { AnatomyTable } from './anatomy-table.ts';
import { explicitTransactionsOf, type ExplicitSpan } from './explicit-transactions.ts';
import { eachExecution } from './statements.ts';
import { Completions, partOfCall, timesOf, TRANSACTION_PARTS, TransactionClock, type TransactionTimes } from './transaction-time.ts';
import { transactionsOf, type Transaction } from './transactions.ts';

/** One lock level. Microseconds; null = refused, or not given back before the transaction's end. */
export interface LadderStep {
  askedUs: number;
  grantedUs: number | null;
  leftUs: number | null;
  /** SQLITE_BUSY answers before it was granted. */
  busy: number;
}

export interface TransactionAnatomy {
  transaction: Transaction;
  /** From the lock that it took first (or, where locks are kept, the statement that it began with) to the last unlock. */
  fromUs: number;
  toUs: number;
  /** By lock level 1..4; null = not asked for: kept from before, or taken inside the VFS. */
  ladder: (LadderStep | null)[];
  /** null where the statements' texts are not known. */
  mode: 'autocommit' | 'explicit' | null;
  /** Rows of the BEGIN and COMMIT (or ROLLBACK) calls; -1 where there are none. */
  beginStatementRow: number;
  endStatementRow: number;
  /** Executions, BEGIN and COMMIT included; null where no SQL call was recorded. Rows of their first calls. */
  statements: number | null;
  statementRows: number[];
  /** Distinct pages, by place in the file; pages written to a WAL by frame header, null where those were not decoded. */
  pagesRead: number;
  pagesWritten: number | null;
  dbBytes: number;
  journalBytes: number;
  walBytes: number;
  syncs: number;
  busyRetries: number;
  /** Sums to toUs - fromUs. */
  time: TransactionTimes;
  /** What the commit cost; null where nothing was committed. */
  commit: { fromUs: number; toUs: number; time: TransactionTimes } | null;
}

const FCNTL_BEGIN_ATOMIC_WRITE = 31;
const EXCLUSIVE = 4;
/** Shorter reads look at the header only. */
const SMALLEST_PAGE = 512;

/** Of every transaction, in the order of transactionsOf. */
export function transactionAnatomies(
  store: TraceStore,
  transactions: readonly Transaction[] = transactionsOf(store).list,
): TransactionAnatomy[] {
  return [...anatomyTable(store, transactions)];
}

/** The same in columns, for traces with many. */
export function anatomyTable(store: TraceStore, transactions: readonly Transaction[] = transactionsOf(store).list): AnatomyTable {
  const scanners = new Map<number, AnatomyScanner>();
  const table = new AnatomyTable(transactions);
  for (const transaction of transactions) {
    const thread = store.threads[transaction.thread]!;
    let scanner = scanners.get(transaction.thread);
    if (!scanner) scanners.set(transaction.thread, (scanner = new AnatomyScanner(thread)));
    table.push(scanner.anatomyOf(transaction));
  }
  return table;
}

const NO_TIME = timesOf(new Float64Array(TRANSACTION_PARTS.length));

interface KnownFile {
  kind: FileKind;
  /** Path of the database that it belongs to. */
  main: string;
}

/** Counts distinct places, transaction after transaction, without giving memory back: a stamp by place, a set for what lies far out. */
class DistinctPlaces {
  size = 0;
  private stamp = 1;
  private stamps = new Uint32Array(1024);
  private readonly far = new Set<number>();
  clear(): void {
    this.size = 0;
    this.stamp++;
    this.far.clear();
  }
  add(place: number): void {
    if (place >= MOST_STAMPS || !Number.isInteger(place)) {
      if (this.far.has(place)) return;
      this.far.add(place);
    } else {
      if (place >= this.stamps.length) {
        const more = new Uint32Array(Math.max(place + 1, this.stamps.length * 2));
        more.set(this.stamps);
        this.stamps = more;
      }
      if (this.stamps[place] === this.stamp) return;
      this.stamps[place] = this.stamp;
    }
    this.size++;
  }
}
const MOST_STAMPS = 1 << 22;

class AnatomyScanner {
  private readonly explicit;
  private readonly clock: TransactionClock;
  private readonly executions: number[] = [];
  /** By connection and file: the row after the last transaction's end. */
  private readonly ended = new Map<number, number>();
  private readonly files: (KnownFile | null)[] = [];
  private readonly read = new DistinctPlaces();
  private readonly written = new DistinctPlaces();
  private readonly frames = new DistinctPlaces();

  constructor(private readonly thread: ThreadStore) {
    this.explicit = explicitTransactionsOf(thread);
    this.clock = new TransactionClock(new Completions(thread.events));
    eachExecution(thread, (row) => this.executions.push(row));
  }

  private file(object: number): KnownFile | null {
    const known = this.files[object];
    if (known !== undefined) return known;
    const d = this.thread.definitions.get(object);
    const found = d?.kind === 'file' ? { kind: d.fileKind, main: d.path.replace(/-(journal|wal)$/, '') } : null;
    return (this.files[object] = found);
  }

  anatomyOf(t: Transaction): TransactionAnatomy {
    const { events } = this.thread;
    const span = this.explicit.at(t.context, events.seq[t.beginRow]!);
    // where locks are kept it begins with its statement, and after the statement's earlier ones (sqlite3_exec)
    const earliest = Math.max(t.lockRow, span?.beginRow ?? statementRow(this.thread, t.beginRow));
    const connection = t.object + t.context * 2 ** 26;
    const from = Math.min(t.beginRow, Math.max(earliest < 0 ? t.beginRow : earliest, this.ended.get(connection) ?? 0));
    const toRow = this.lastUnlock(t);
    this.ended.set(connection, toRow + 1);
    const [fromNs, toNsAll] = [toNs(events.t0[from]!), toNs(events.t0[toRow]! + events.dur[toRow]!)];
    const enclosing = statementRow(this.thread, from);
    const sqlUntil = enclosing < 0 ? -Infinity : this.endNs(enclosing);
    this.clock.start(fromNs, toNsAll, sqlUntil);
    const found: TransactionAnatomy = {
      transaction: t,
      fromUs: events.t0[from]!,
      toUs: toNsAll / 1000,
      ladder: [null, null, null, null, null],
      mode: span ? 'explicit' : this.explicit.known ? 'autocommit' : null,
      beginStatementRow: span?.beginRow ?? -1,
      endStatementRow: span && this.endsWith(span, t) ? span.endRow : -1,
      statements: null,
      statementRows: this.statementsIn(t, Math.min(from, span?.beginRow ?? from, enclosing < 0 ? from : enclosing), toRow),
      pagesRead: 0,
      pagesWritten: null,
      dbBytes: 0,
      journalBytes: 0,
      walBytes: 0,
      syncs: 0,
      busyRetries: 0,
      time: NO_TIME,
      commit: null,
    };
    if (this.executions.length) found.statements = found.statementRows.length;
    const commit = t.outcome === 'committed' ? this.commitBegin(t, from, span) : -1;
    this.walk(found, from, toRow, commit);
    found.time = timesOf(this.clock.ns);
    if (commit >= 0)
      found.commit = { fromUs: this.clock.markedNs / 1000, toUs: found.toUs, time: timesOf(this.clock.ns, this.clock.marked) };
    return found;
  }

  private endsWith(span: ExplicitSpan, t: Transaction): boolean {
    return span.endRow >= 0 && this.thread.events.seq[t.endRow]! <= span.endSeq;
  }

  private endNs(row: number): number {
    const { events } = this.thread;
    return events.endSeq[row] === 0 ? Infinity : toNs(events.t0[row]! + events.dur[row]!);
  }

  /** Row of the last of the unlocks that follow at once. */
  private lastUnlock(t: Transaction): number {
    const { events } = this.thread;
    let last = t.endRow;
    for (let row = t.endRow + 1; row < events.count; row++) {
      const op = events.op[row]!;
      if (op === Op.xUnlock && events.object[row] === t.object && events.context[row] === t.context) last = row;
      else if (op >= 64 && op < 128) continue;
      else if (op !== Op.xDeviceCharacteristics && op !== Op.xSectorSize) break;
    }
    return events.endSeq[last] === 0 ? t.endRow : last;
  }

  /** Row with which the commit begins, or -1. */
  private commitBegin(t: Transaction, from: number, span: ExplicitSpan | null): number {
    const { events } = this.thread;
    const statement = statementRow(this.thread, t.endRow);
    if (span && span.endRow === statement && statement >= from && span.beginRow !== statement) return statement;
    for (let row = Math.max(from, statement); row <= t.endRow; row++) {
      const op = events.op[row]!;
      if (op >= 64 || events.context[row] !== t.context) continue;
      const kind = events.flags[row]! & Flag.memoryJournal ? undefined : this.file(events.object[row]!)?.kind;
      if (op === Op.xLock && events.aux[row] === EXCLUSIVE) return row;
      if (op === Op.xFileControl && events.aux[row] === FCNTL_BEGIN_ATOMIC_WRITE) return row;
      if (op === Op.xSync && kind !== 'temp') return row;
      if (op === Op.xWrite && (kind === 'wal' || kind === 'main-db')) return row;
    }
    return t.commitRow;
  }

  private statementsIn(t: Transaction, from: number, to: number): number[] {
    const { events } = this.thread;
    const { executions } = this;
    let lo = 0;
    let hi = executions.length;
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if (executions[mid]! < from) lo = mid + 1;
      else hi = mid;
    }
    const found: number[] = [];
    for (; lo < executions.length && executions[lo]! <= to; lo++)
      if (events.context[executions[lo]!] === t.context) found.push(executions[lo]!);
    return found;
  }

  private walk(found: TransactionAnatomy, from: number, to: number, commitRow: number): void {
    const { events } = this.thread;
    const { read, written, clock } = this;
    const { path, context } = found.transaction;
    read.clear();
    written.clear();
    this.frames.clear();
    let framesDecoded = false;
    for (let row = from; row <= to; row++) {
      const op = events.op[row]!;
      if (row === commitRow) clock.mark(toNs(events.t0[row]!));
      if (events.context[row] !== context || op === 0) continue;
      if (op >= Op.sqlOpen && op <= Op.sqlExec) clock.sqlCall(toNs(events.t0[row]!), this.endNs(row));
      if (op >= 64 || events.endSeq[row] === 0 || events.flags[row]! & Flag.memoryJournal) continue;
      const file = this.file(events.object[row]!);
      if (file?.kind === 'memory-journal') continue;
      const own = file !== null && file.main === path;
      clock.vfsCall(toNs(events.t0[row]!), this.endNs(row), partOfCall(op, own ? file.kind : 'other'));
      if (!own) continue;
      if (op === Op.xLock || op === Op.xUnlock) found.busyRetries += this.step(row, op, found.ladder);
      if (events.result[row] !== 0) continue;
      const length = events.length[row]!;
      if (op === Op.xSync) found.syncs++;
      else if (op === Op.xRead) {
        if (file.kind === 'main-db' && length >= SMALLEST_PAGE) read.add(events.offset[row]! / SMALLEST_PAGE);
      } else if (op === Op.xWrite) {
        if (file.kind === 'main-db') {
          found.dbBytes += length;
          written.add(events.offset[row]! / SMALLEST_PAGE);
        } else if (file.kind === 'journal') found.journalBytes += length;
        else if (file.kind === 'wal') {
          found.walBytes += length;
          const page = events.aux[row]!;
          if (page !== 0 && page !== AUX_WAL_HEADER) {
            framesDecoded = true;
            this.frames.add(page);
          }
        }
      }
    }
    clock.advance(Infinity);
    found.pagesRead = read.size;
    found.pagesWritten = found.walBytes && !framesDecoded ? null : written.size + this.frames.size;
  }

  /** @returns 1 where the lock was refused as busy */
  private step(row: number, op: number, ladder: (LadderStep | null)[]): number {
    const { events } = this.thread;
    const [at, level, rc] = [events.t0[row]!, events.aux[row]!, events.result[row]!];
    const end = at + events.dur[row]!;
    if (op === Op.xUnlock) {
      for (let above = Math.max(0, level) + 1; above <= 4; above++) {
        const step = ladder[above];
        if (rc === 0 && step && step.grantedUs !== null) step.leftUs ??= end;
      }
      return 0;
    }
    if (level < 1 || level > 4) return 0;
    const step = (ladder[level] ??= { askedUs: at, grantedUs: null, leftUs: null, busy: 0 });
    if (rc === 0) step.grantedUs ??= end;
    else if ((rc & 255) === 5) {
      step.busy++;
      return 1;
    }
    return 0;
  }
}
