/**
 * Anatomy of checkpoints, which copy frames of the log into the database.
 *
 *   sync wal | CKPT_START | read wal, write db | read wal, write db | ... | CKPT_DONE | truncate db | sync db | [truncate wal]
 *   |<------------------------------------------ one checkpoint ------------------------------------------------------------>|
 *
 * If the VFS's calls were recorded, xFileControl 39 and 37 mark its begin and end, on every VFS and
 * without cost. Otherwise it is detected from writes to the database between two writes to the log,
 * which only a checkpoint makes.
 */
import { statementText } from '../../trace/describe.ts';
import { Op } from '../../event/event.ts';
import { isVfsOp } from '../../event/operations.ts';
import { bytesMoved } from '../../trace/bytes-moved.ts';
import { lowerBound } from '../../trace/number-columns.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { pagesTouched } from '../core/pages-touched.ts';
import { triggerOf, type CheckpointMode, type CheckpointTrigger } from './checkpoint-trigger.ts';
import { DistinctPlaces } from '../core/distinct-places.ts';
import { WalFollower } from './wal.ts';
import { AS_VFS, wals, type WalFile } from './wal-files.ts';
import { fact, type ByThread } from '../core/graph.ts';
import { failures } from '../rules/failures.ts';
import { Fcntl, isRefusal } from '../../sqlite/constants.ts';
import { WAL_HEADER } from '../../sqlite/wal.ts';

export interface Checkpoint {
  /** Path of the database. */
  path: string;
  /** Place in TraceStore.threads, and rows of the first and the last call. */
  thread: number;
  fromRow: number;
  toRow: number;
  fromUs: number;
  toUs: number;
  /** Marked by CKPT_START and CKPT_DONE, or detected from the order of reads and writes. */
  bracketed: boolean;
  trigger: CheckpointTrigger;
  /** null = not known: its PRAGMA's argument was a literal, or no text was recorded. */
  mode: CheckpointMode | null;
  /** Text of the statement that ran it; '' = not known. */
  statement: string;
  /** Frames in the log when it began; null if frame headers weren't decoded. */
  framesInLog: number | null;
  /**
   * Distinct pages among them; null as above, and if some of them were written before the trace.
   */
  pagesInLog: number | null;
  /**
   * Frames replaced by later ones of the same page: written to the log, but never copied. null like
   * pagesInLog.
   */
  supersededFrames: number | null;
  /** Distinct pages written to the database. */
  pages: number;
  dbWrites: number;
  dbBytes: number;
  walReads: number;
  walReadBytes: number;
  /** Runs of adjacent writes: the minimum number of writes; and the longest run, in pages. */
  runs: number;
  longestRun: number;
  ascending: boolean;
  walSyncs: number;
  dbSyncs: number;
  /** The log was truncated at its end, or deleted. */
  truncatedWal: boolean;
  /**
   * Refused locks during it, and after it in the same SQL call: RESTART and TRUNCATE wait for
   * readers last.
   */
  busy: number;
  /** Pages in the log that no checkpoint since the log began has copied; null like pagesInLog. */
  pagesLeft: number | null;
  /**
   * Pages read from the log less than `HOT_US` after they were written, and the shortest such time;
   * null like framesInLog.
   */
  hotReads: number | null;
  youngestReadUs: number | null;
  /** Sum to toUs - fromUs, microseconds. */
  time: { readUs: number; writeUs: number; syncUs: number; otherUs: number };
}

/** A page that was written this recently is probably still in SQLite's page cache (F41). */
export const HOT_US = 100_000;
/**
 * Maximum calls on the log that belong to the first write to the database after them; earlier ones
 * were a reader's.
 */
const MOST_BEFORE = 64;

/** In order of time for each database. */
export const checkpoints = fact(
  'checkpoints',
  'checkpoints',
  { wals, failures },
  (store, { wals, failures }) =>
    wals.flatMap((file) => new CheckpointScan(store, file, failures).run()),
);

class CheckpointScan {
  private readonly found: Checkpoint[] = [];
  private readonly wal: WalFollower;
  /** Pages of the log that aren't in the database yet. */
  private readonly pending = new DistinctPlaces();
  /** Pages that one checkpoint wrote. */
  private readonly pages = new DistinctPlaces();
  /** The log when the current checkpoint began, because it may truncate it. */
  private log = { frames: 0, pages: null as number | null, writtenUs: [] as readonly number[] };
  /**
   * Indices in `file` where the current checkpoint began and where it last did something, and
   * whether CKPT_DONE was seen.
   */
  private start = -1;
  private last = -1;
  private done = false;

  constructor(
    private readonly store: TraceStore,
    private readonly file: WalFile,
    private readonly failures: ByThread<readonly number[]>,
  ) {
    this.wal = new WalFollower(file);
  }

  private events(i: number) {
    return this.store.threads[this.file.thread[i]!]!.events;
  }

  run(): Checkpoint[] {
    const { file } = this;
    for (let i = 0; i < file.row.length; i++) {
      const row = file.row[i]!;
      const events = this.events(i);
      const op = AS_VFS[events.op[row]!]!;
      if (this.file.bracketed) this.bracket(i, op, events.aux[row]!);
      else this.infer(i, op);
      if (file.onWal[i]) this.logCall(file.thread[i]!, row);
      else if (op === Op.xFileControl && events.aux[row] === Fcntl.commitPhaseTwo)
        this.wal.boundary();
      else if (this.start >= 0 && op === Op.xWrite)
        this.copied(events.offset[row]!, events.length[row]!);
    }
    this.close();
    return this.found;
  }

  private logCall(thread: number, row: number): void {
    const { wal } = this;
    const before = wal.restarts + wal.truncations;
    wal.take(this.store, thread, row);
    if (wal.restarts + wal.truncations !== before) this.pending.clear();
    if (wal.lastPage > 0) this.pending.add(wal.lastPage);
  }

  private copied(offset: number, length: number): void {
    const size = this.file.pageSize ?? length;
    const { first, count } = pagesTouched(offset, length, size);
    for (let n = 0; n < count; n++) this.pending.delete(first + n);
  }

  private begin(i: number): void {
    this.start = this.last = i;
    this.done = false;
    const { frames, pages, begunBefore, writtenUs } = this.wal;
    this.log = { frames, pages: begunBefore ? null : pages.size, writtenUs };
  }

  private bracket(i: number, op: number, aux: number): void {
    const { onWal } = this.file;
    if (op === Op.xFileControl && aux === Fcntl.ckptStart) {
      this.close();
      this.begin(i);
      // the log is synced first
      const before = i - 1;
      if (
        before >= 0 &&
        onWal[before] &&
        this.opAt(before) === Op.xSync &&
        this.sameCall(before, i)
      )
        this.start = before;
      return;
    }
    if (this.start < 0) return;
    if (op === Op.xFileControl && aux === Fcntl.ckptDone) {
      this.done = true;
      this.last = i;
    } else if (!this.done) {
      if (op === Op.xFileControl && aux === Fcntl.commitPhaseTwo)
        this.close(); // its end is missing
      else this.last = i;
    } else if (
      (op === Op.xTruncate || (op === Op.xSync && !onWal[i]) || (op === Op.xDelete && onWal[i])) &&
      this.sameCall(this.start, i)
    )
      this.last = i;
    else if (op === Op.xWrite || !this.sameCall(this.start, i)) this.close();
  }

  /** Writes to the database while a log is in use. Reads of the log just before belong to them. */
  private infer(i: number, op: number): void {
    const { onWal } = this.file;
    if (onWal[i]) {
      if (op === Op.xWrite || op === Op.xClose) this.close();
      else if (this.start >= 0 && (op === Op.xTruncate || op === Op.xDelete)) this.last = i;
      return;
    }
    if (op === Op.xWrite && this.wal.usedBytes > WAL_HEADER) {
      if (this.start < 0) {
        this.begin(i);
        for (
          let before = i - 1;
          before >= 0 && i - before <= MOST_BEFORE && onWal[before] && this.sameCall(before, i);
          before--
        ) {
          const kind = this.opAt(before);
          if (kind !== Op.xRead && kind !== Op.xSync) break;
          this.start = before;
        }
      }
      this.last = i;
    } else if (this.start >= 0 && (op === Op.xSync || op === Op.xTruncate)) this.last = i;
  }

  private opAt(i: number): number {
    return AS_VFS[this.events(i).op[this.file.row[i]!]!]!;
  }
  private sameCall(a: number, b: number): boolean {
    const { thread, row } = this.file;
    return (
      thread[a] === thread[b] && this.events(a).parent[row[a]!] === this.events(b).parent[row[b]!]
    );
  }

  private close(): void {
    if (this.start >= 0) this.found.push(this.anatomy(this.start, this.last));
    this.start = -1;
  }

  private refusals(thread: ThreadStore, fromRow: number, toRow: number): number {
    const { op, result, parent } = thread.events;
    const failed = this.failures.of(thread);
    let refused = 0;
    for (let i = lowerBound(failed, fromRow, failed.length); i < failed.length; i++) {
      const row = failed[i]!;
      if (row > toRow && (parent[row] === 0 || parent[row] !== parent[fromRow])) break;
      if (isVfsOp(op[row]!) && isRefusal(result[row]!)) refused++;
    }
    return refused;
  }

  private anatomy(start: number, last: number): Checkpoint {
    const { file, wal, store } = this;
    const thread = file.thread[start]!;
    const { events } = store.threads[thread]!;
    const [fromRow, toRow] = [file.row[start]!, file.row[last]!];
    const sums = {
      dbWrites: 0,
      dbBytes: 0,
      walReads: 0,
      walReadBytes: 0,
      walSyncs: 0,
      dbSyncs: 0,
      runs: 0,
      longestRun: 0,
    };
    const time = { read: 0, write: 0, sync: 0 };
    const { pages } = this;
    pages.clear();
    let [ascending, truncatedWal, end, run, hot, youngest] = [true, false, -1, 0, 0, Infinity];
    for (let i = start; i <= last; i++) {
      const row = file.row[i]!;
      if (file.thread[i] !== thread) continue;
      const op = AS_VFS[events.op[row]!]!;
      const offset = events.offset[row]!;
      const length = events.length[row]!;
      const dur = Math.round(events.dur[row]! * 1000);
      if (op === Op.xSync) {
        if (file.onWal[i]) sums.walSyncs++;
        else sums.dbSyncs++;
        time.sync += dur;
      } else if (file.onWal[i] && op === Op.xRead) {
        sums.walReads++;
        sums.walReadBytes += bytesMoved(events, row);
        time.read += dur;
        const written = this.log.writtenUs[wal.frameAt(offset)];
        if (written !== undefined && wal.framesDecoded) {
          const age = events.t0[row]! - written;
          youngest = Math.min(youngest, age);
          if (age < HOT_US) hot++;
        }
      } else if (!file.onWal[i] && op === Op.xWrite) {
        sums.dbWrites++;
        sums.dbBytes += bytesMoved(events, row);
        time.write += dur;
        const size = file.pageSize ?? length;
        const { first, count } = pagesTouched(offset, length, size);
        for (let n = 0; n < count; n++) pages.add(first + n);
        if (offset < end) ascending = false;
        if (offset === end) run += length / size;
        else {
          sums.runs++;
          run = length / size;
        }
        sums.longestRun = Math.max(sums.longestRun, run);
        end = offset + length;
      } else if (file.onWal[i] && (op === Op.xTruncate || op === Op.xDelete)) {
        truncatedWal ||= op === Op.xDelete || offset < WAL_HEADER;
        time.write += dur;
      } else if (op === Op.xTruncate) time.write += dur;
    }
    const fromUs = events.t0[fromRow]!;
    const toUs = events.t0[toRow]! + events.dur[toRow]!;
    const known = wal.framesDecoded;
    const whole = Math.round((toUs - fromUs) * 1000);
    const { trigger, mode } = triggerOf(store.threads[thread]!, fromRow, toRow);
    // a plain literal: merging objects is slow, and there may be tens of thousands
    return {
      path: file.path,
      thread,
      fromRow,
      toRow,
      fromUs,
      toUs,
      bracketed: file.bracketed,
      trigger,
      mode,
      statement: statementText(store.threads[thread]!, fromRow),
      framesInLog: known ? this.log.frames : null,
      pagesInLog: known ? this.log.pages : null,
      supersededFrames: known && this.log.pages !== null ? this.log.frames - this.log.pages : null,
      pages: pages.size,
      dbWrites: sums.dbWrites,
      dbBytes: sums.dbBytes,
      walReads: sums.walReads,
      walReadBytes: sums.walReadBytes,
      runs: sums.runs,
      longestRun: sums.longestRun,
      ascending,
      walSyncs: sums.walSyncs,
      dbSyncs: sums.dbSyncs,
      truncatedWal,
      busy: this.refusals(store.threads[thread]!, fromRow, toRow),
      pagesLeft: known && !wal.begunBefore ? this.pending.size : null,
      hotReads: known ? hot : null,
      youngestReadUs: known && youngest !== Infinity ? youngest : null,
      time: {
        readUs: time.read / 1000,
        writeUs: time.write / 1000,
        syncUs: time.sync / 1000,
        otherUs: (whole - time.read - time.write - time.sync) / 1000,
      },
    };
  }
}
