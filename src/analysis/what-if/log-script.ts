/**
 * What an app requested of a write-ahead log, without the checkpoints that SQLite ran by itself:
 * the same for any other wal_autocheckpoint. Frames are numbered within their transaction, because
 * a log that restarts elsewhere numbers them differently.
 */
import { AUX_WAL_HEADER, Op } from '../../event/event.ts';
import { databaseName } from '../../event/file-names.ts';
import { opSet } from '../../event/operations.ts';
import { columns } from '../../trace/number-columns.ts';
import type { TraceStore } from '../../trace/store.ts';
import { Fcntl } from '../../sqlite/constants.ts';
import { WAL_FRAME_HEADER } from '../../sqlite/wal.ts';
import { databasesByConnection } from '../core/connection-databases.ts';
import { fact } from '../core/graph.ts';
import { rowsByOperation } from '../core/rows-by-operation.ts';
import { Access, type Accesses } from '../pages/accesses.ts';
import { modeOfText } from '../wal/checkpoint-trigger.ts';
import type { Checkpoint } from '../wal/checkpoints.ts';
import { WalFollower } from '../wal/wal.ts';
import { AS_VFS, type WalFile } from '../wal/wal-files.ts';

export const Step = {
  /**
   * A frame: `a` = its number in its transaction, from 1; `b` = its page. If the number is in use,
   * that frame and those after it were rolled back.
   */
  frame: 0,
  /**
   * The transaction commits with the previous frame: `a` = pages of the database from then on; `b`
   * = 1: the log is synced.
   */
  commit: 1,
  /** A statement reads page `a`; `b` = 1: from a frame of its own transaction. */
  read: 2,
  /** A checkpoint that the app requested, or that closing ran. */
  checkpoint: 3,
  /** The log is truncated to nothing or deleted, after a checkpoint of its content. */
  cut: 4,
} as const;

/** The steps in order; `us` = when each happened, microseconds. */
export class LogSteps extends columns({
  step: Uint8Array,
  a: [Uint32Array, Float64Array],
  b: [Uint32Array, Float64Array],
  us: Float64Array,
}) {
  push(step: number, a: number, b: number, us: number): void {
    const i = this.add();
    this.step[i] = step;
    this.us[i] = us;
    this.set('a', i, a);
    this.set('b', i, b);
  }
}

/** The cost of a log and its checkpoints. */
export interface LogCounts {
  /** Checkpoints that copied something. */
  checkpoints: number;
  /** Frames appended, including those that fill a sector and those of rolled-back transactions. */
  frames: number;
  /**
   * Pages that checkpoints wrote to the database, and the minimum number of writes, with neighbors
   * as one.
   */
  dbWrites: number;
  runs: number;
  /** Pages that checkpoints read from the log. */
  copyReads: number;
  /** Pages that statements read, from the log and from the database. */
  logReads: number;
  dbReads: number;
  /** null = not known: nothing shows whether a checkpoint syncs. */
  walSyncs: number | null;
  dbSyncs: number | null;
  /** Maximum frames in the log. */
  largest: number;
}
export const noCounts = (): LogCounts & { walSyncs: number; dbSyncs: number } => ({
  checkpoints: 0,
  frames: 0,
  dbWrites: 0,
  runs: 0,
  copyReads: 0,
  logReads: 0,
  dbReads: 0,
  walSyncs: 0,
  dbSyncs: 0,
  largest: 0,
});

export interface LogScript {
  readonly steps: LogSteps;
  /** As recorded. */
  readonly recorded: LogCounts;
  /**
   * Where it begins if the log had frames before: the log's first restart, microseconds. null = it
   * has everything.
   */
  readonly fromUs: number | null;
  /** Bytes of a frame with its header. */
  readonly frameBytes: number;
  /** Syncs of the log by commits, which don't depend on the distance between checkpoints. */
  readonly commitSyncs: number;
  /** The log's header is synced before its first frame. */
  readonly headerSyncs: boolean;
  /** A checkpoint syncs the log before it and the database after it; null = not known. */
  readonly checkpointSyncs: boolean | null;
  /** A synced commit fills the sector with its last frame. */
  readonly fillsSectors: boolean;
  /**
   * For checkpoints that SQLite ran by itself: the fewest frames after which one ran, and the most
   * after which none ran.
   */
  readonly fewestWith: number;
  readonly mostWithout: number;
}

/**
 * A statement that requests a checkpoint, even if there was nothing to copy: with another distance
 * there may be.
 */
export interface AskedCheckpoint {
  readonly thread: number;
  readonly row: number;
  /** Names (`databaseName`) of the databases that its connection has. */
  readonly databases: ReadonlySet<string>;
}
/** In order of time. */
export const askedCheckpoints = fact(
  'askedCheckpoints',
  'checkpoints that the app ran itself',
  { databasesByConnection, rowsByOperation },
  ({ threads }, known): AskedCheckpoint[] => {
    const found: AskedCheckpoint[] = [];
    for (const thread of threads) {
      const { events, definitions, index } = thread;
      const texts = new Set<number>();
      for (const [id, d] of definitions) if (d.kind === 'sql' && modeOfText(d.text)) texts.add(id);
      if (texts.size === 0) continue;
      const databases = known.databasesByConnection.of(thread);
      for (const row of known.rowsByOperation.of(thread).together(RUNS))
        if (texts.has(events.object[row]!) && events.endSeq[row] !== 0)
          found.push({
            thread: index,
            row,
            databases: databases.get(events.context[row]!) ?? new Set(),
          });
    }
    const endUs = ({ thread, row }: AskedCheckpoint): number => {
      const { t0, dur } = threads[thread]!.events;
      return t0[row]! + dur[row]!;
    };
    return found.sort((a, b) => endUs(a) - endUs(b) || a.row - b.row);
  },
);
const RUNS = opSet(Op.sqlStep, Op.sqlExec);

/** @returns the script of a log, or why there isn't one, as the end of a sentence */
export function logScriptOf(
  store: TraceStore,
  file: WalFile,
  checkpoints: readonly Checkpoint[],
  asked: readonly AskedCheckpoint[],
  accesses: Accesses,
): LogScript | string {
  if (file.layer !== 'vfs') return "the engine's VFS calls were not recorded";
  if (file.pageSize === null) return 'the page size is not known';
  const own = checkpoints.filter(({ path }) => path === file.path);
  if (own.some(({ bracketed }) => !bracketed))
    return 'the VFS does not show where a checkpoint begins and ends';
  const name = databaseName(file.path);
  const ownAsked = asked.filter(({ databases }) => databases.has(name));
  return new LogScan(store, file, file.pageSize, own, ownAsked).run(accesses);
}

/** A page that a statement read. */
interface PageRead {
  readonly thread: number;
  readonly row: number;
  readonly us: number;
  readonly page: number;
  readonly fromLog: boolean;
}

/** In order of time, without the reads of checkpoints and of headers. */
function* pageReads({ path, pageSize }: WalFile, accesses: Accesses): Generator<PageRead> {
  const object = accesses.objects.findIndex((o) => o.path === path);
  for (let i = 0; i < accesses.count; i++) {
    const what = accesses.what[i]!;
    if (accesses.object[i] !== object || what & (Access.write | Access.checkpoint)) continue;
    if (accesses.bytes[i] !== pageSize) continue;
    yield {
      thread: accesses.thread[i]!,
      row: accesses.row[i]!,
      us: accesses.us[i]!,
      page: accesses.place[i]!,
      fromLog: (what & Access.wal) !== 0,
    };
  }
}

class LogScan {
  private steps = new LogSteps();
  private counts = noCounts();
  private readonly wal: WalFollower;
  private fromUs: number | null = null;
  /** The log has begun; it was in use before. */
  private begun = false;
  private held = false;
  /**
   * Frames of all committed transactions, including those that fill sectors; and of the current
   * one.
   */
  private committed = 0;
  private length = 0;
  private broken = false;
  private headerWritten = false;
  private headerSyncs = 0;
  private commitSyncs = 0;
  private padded = false;
  private fewestWith = Infinity;
  private mostWithout = 0;
  /** Step of the newest commit; -1 = none since the log was truncated. */
  private lastCommit = -1;
  /** A commit without a later checkpoint. */
  private open = false;
  private next = 0;
  private nextAsked = 0;

  constructor(
    private readonly store: TraceStore,
    private readonly file: WalFile,
    private readonly pageSize: number,
    private readonly checkpoints: readonly Checkpoint[],
    private readonly asked: readonly AskedCheckpoint[],
  ) {
    this.wal = new WalFollower(file);
  }

  run(accesses: Accesses): LogScript | string {
    const { file } = this;
    const reads = pageReads(file, accesses);
    let read = reads.next();
    for (let i = 0; i < file.row.length; i++) {
      const [thread, row] = [file.thread[i]!, file.row[i]!];
      const us = this.store.threads[thread]!.events.t0[row]!;
      const isBefore = (r: PageRead): boolean => (r.thread === thread ? r.row < row : r.us < us);
      for (; !read.done && isBefore(read.value); read = reads.next()) this.read(read.value);
      this.askBefore(thread, row);
      this.call(thread, row, file.onWal[i] === 1);
    }
    for (; !read.done; read = reads.next()) this.read(read.value);
    this.endCommit();
    return this.result();
  }

  private result(): LogScript | string {
    const { counts, wal, checkpoints, headerSyncs, commitSyncs } = this;
    if (!wal.framesDecoded) return 'frame headers were not decoded';
    if (!this.begun) return 'the log held frames before the recording, and has not begun again';
    if (this.broken) return 'the recording misses frames of the log';
    const syncs = checkpoints.some((c) => c.walSyncs + c.dbSyncs > 0);
    const checkpointSyncs =
      syncs || headerSyncs + commitSyncs > 0 ? true : checkpoints.length ? false : null;
    return {
      steps: this.steps,
      recorded: {
        ...counts,
        walSyncs: counts.walSyncs + headerSyncs + commitSyncs,
      },
      fromUs: this.fromUs,
      frameBytes: this.pageSize + WAL_FRAME_HEADER,
      commitSyncs,
      headerSyncs: headerSyncs > 0,
      checkpointSyncs,
      fillsSectors: this.padded,
      fewestWith: this.fewestWith,
      mostWithout: this.mostWithout,
    };
  }

  private read({ thread, row, page, fromLog, us }: PageRead): void {
    this.askBefore(thread, row);
    const { offset } = this.store.threads[thread]!.events;
    const own = fromLog && this.wal.frameAt(offset[row]!) > this.committed;
    this.steps.push(Step.read, page, own ? 1 : 0, us);
    if (fromLog) this.counts.logReads++;
    else this.counts.dbReads++;
  }

  /** Statements that request a checkpoint and end before a call. */
  private askBefore(thread: number, row: number): void {
    for (let ask = this.asked[this.nextAsked]; ask; ask = this.asked[++this.nextAsked]) {
      const [events, call] = [ask.thread, thread].map((i) => this.store.threads[i]!.events);
      const endUs = events!.t0[ask.row]! + events!.dur[ask.row]!;
      const isBefore =
        ask.thread === thread
          ? events!.endSeq[ask.row]! < call!.seq[row]!
          : endUs <= call!.t0[row]!;
      if (!isBefore) return;
      this.steps.push(Step.checkpoint, 0, 0, endUs);
    }
  }

  /** The checkpoint that a call belongs to. */
  private checkpointAt(thread: number, row: number): Checkpoint | undefined {
    const c = this.checkpoints[this.next];
    if (c?.thread !== thread || row < c.fromRow) return undefined;
    if (row === c.fromRow) this.beginCheckpoint(c);
    if (row === c.toRow) this.next++;
    return c;
  }
  private beginCheckpoint(c: Checkpoint): void {
    const { counts } = this;
    if (c.trigger === 'autocheckpoint') {
      this.open = false;
      this.fewestWith = Math.min(this.fewestWith, c.framesInLog ?? Infinity);
    } else {
      this.endCommit();
      this.steps.push(Step.checkpoint, 0, 0, c.fromUs);
    }
    counts.checkpoints++;
    counts.dbWrites += c.dbWrites;
    counts.runs += c.runs;
    counts.copyReads += c.walReads;
    counts.walSyncs += c.walSyncs;
    counts.dbSyncs += c.dbSyncs;
  }

  private call(thread: number, row: number, onWal: boolean): void {
    const { events } = this.store.threads[thread]!;
    const op = AS_VFS[events.op[row]!];
    const us = events.t0[row]!;
    const checkpoint = this.checkpointAt(thread, row);
    if (!onWal) {
      if (op === Op.xFileControl && events.aux[row] === Fcntl.commitPhaseTwo) this.wal.boundary();
      return;
    }
    if (op === Op.xRead) this.held ||= !this.begun;
    else if (op === Op.xSync) {
      this.wal.take(this.store, thread, row);
      if (!checkpoint) this.sync();
    } else if (op === Op.xWrite) this.write(thread, row, us);
    else if (op === Op.xTruncate || op === Op.xDelete) {
      const { truncations } = this.wal;
      this.wal.take(this.store, thread, row);
      if (this.wal.truncations === truncations) return;
      this.endCommit();
      this.steps.push(Step.cut, 0, 0, us);
      this.committed = this.length = 0;
      this.lastCommit = -1;
    }
  }

  private sync(): void {
    if (this.headerWritten) this.headerSyncs++;
    else {
      this.commitSyncs++;
      if (this.lastCommit >= 0) this.steps.set('b', this.lastCommit, 1);
    }
    this.headerWritten = false;
  }

  private write(thread: number, row: number, us: number): void {
    const { wal, counts } = this;
    const { events } = this.store.threads[thread]!;
    const { commits } = wal;
    const changed = wal.take(this.store, thread, row);
    if (events.aux[row] === AUX_WAL_HEADER) {
      this.endCommit();
      if (!this.begun && this.held) this.beginHere(us);
      this.begun = this.headerWritten = true;
      this.committed = this.length = 0;
      return;
    }
    if (wal.lastPage === 0) return; // the image of its page
    this.held ||= !this.begun;
    this.headerWritten = false;
    counts.largest = Math.max(counts.largest, wal.frames);
    const frame = wal.frameAt(events.offset[row]!);
    // only its checksum, because the transaction wrote an earlier frame again
    if (frame <= this.committed) return;
    counts.frames++;
    if (changed && wal.commits === commits) {
      this.padded = true;
      this.committed = frame;
      return;
    }
    this.endCommit();
    const place = frame - this.committed;
    if (place > this.length + 1) this.broken ||= this.begun;
    this.length = place;
    this.steps.push(Step.frame, place, wal.lastPage, us);
    if (wal.commits === commits) return;
    this.lastCommit = this.steps.count;
    this.steps.push(Step.commit, events.aux2[row]!, 0, us);
    this.committed = frame;
    this.length = 0;
    this.open = true;
  }

  /** The log's earlier content isn't known, so everything until here is left out. */
  private beginHere(us: number): void {
    this.steps = new LogSteps();
    this.counts = noCounts();
    this.fromUs = us;
    this.headerSyncs = this.commitSyncs = 0;
    this.lastCommit = -1;
    this.fewestWith = Infinity;
    this.mostWithout = 0;
  }

  /** SQLite continued after a commit without a checkpoint. */
  private endCommit(): void {
    if (this.open) this.mostWithout = Math.max(this.mostWithout, this.committed);
    this.open = false;
  }
}
