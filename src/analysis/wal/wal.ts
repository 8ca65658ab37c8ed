/**
 * The history of each write-ahead log: its size over time, commits, restarts, and truncations.
 *
 *   bytes   ___/''|        ___/'''''|                  frames go to the end; after a checkpoint of all of them
 *       ___/      |____ __/         |____              the next one goes to the beginning (restart), or the log is cut
 *                 restart            truncated
 *
 * It uses the VFS's calls on the log, or if an engine's VFS calls aren't visible (Turso), OPFS
 * writes with decoded frames.
 */
import { AUX_WAL_HEADER, Op } from '../../event/event.ts';
import { WAL_FRAME_HEADER, WAL_HEADER } from '../../sqlite/wal.ts';
import { bytesMoved } from '../../trace/bytes-moved.ts';
import type { TraceStore } from '../../trace/store.ts';
import { DistinctPlaces } from '../core/distinct-places.ts';
import { fact } from '../core/graph.ts';
import { AS_VFS, wals, type WalFile } from './wal-files.ts';
import { Fcntl } from '../../sqlite/constants.ts';

export { wals } from './wal-files.ts';

export interface WalHistory {
  path: string;
  layer: 'vfs' | 'web';
  pageSize: number | null;
  /**
   * Total appended frames, including those that fill sectors; null if frame headers weren't
   * decoded.
   */
  frames: number | null;
  /** null as above. */
  commits: number | null;
  bytesWritten: number;
  syncs: number;
  /** Restarted at its first byte, with an unchanged length. */
  restarts: number;
  /** Truncated to nothing, or deleted. */
  truncations: number;
  highWaterBytes: number;
  highWaterFrames: number | null;
  /** The longest growth without a restart or truncation, in frames; see `isStarved`. */
  longestGrowthFrames: number | null;
  /**
   * Size after each commit, restart, and truncation, or after each write if commits aren't known:
   * the end of the log's used part, and the file's length.
   */
  series: { timeUs: Float64Array; usedBytes: Float64Array; fileBytes: Float64Array };
}

/** SQLite's default of wal_autocheckpoint, pages. */
export const DEFAULT_AUTOCHECKPOINT = 1000;
/**
 * A log that has grown by more than four times the checkpoint's threshold isn't completely
 * checkpointed (F13).
 */
export function isStarved(
  wal: WalHistory,
  autocheckpoint = DEFAULT_AUTOCHECKPOINT,
): boolean | null {
  return wal.longestGrowthFrames === null ? null : wal.longestGrowthFrames > 4 * autocheckpoint;
}

/** Follows one log through its calls. The fields describe it after the last call. */
export class WalFollower {
  /** Frames in use: up to the last one written since the log began or restarted. */
  frames = 0;
  /**
   * The first frame written since then; 0 = none. Above 1 if the log was begun before the trace.
   */
  private firstFrame = 0;
  /** Bytes in use and bytes of the file. */
  usedBytes = 0;
  fileBytes = 0;
  /** Time of writing by frame, from 1. A log that restarts has a new array. */
  writtenUs: number[] = [0];
  /** Pages with a frame. */
  readonly pages = new DistinctPlaces();
  /** Page of the last call's frame; 0 = it wasn't a frame. */
  lastPage = 0;
  framesDecoded = false;
  commits = 0;
  appended = 0;
  restarts = 0;
  truncations = 0;
  private lastCommitAux = 0;
  private lastCommitAux2 = 0;
  private lastCommitParent = -1;
  private lastCommitOffset = -1;
  private base = 0;

  /**
   * Engines other than SQLite (whose VFS calls aren't visible) don't fill sectors with their last
   * frame: each of their commit frames is a commit.
   */
  private readonly fillsSectors: boolean;
  private readonly pageSize: number | null;

  constructor({ pageSize, layer }: Pick<WalFile, 'pageSize' | 'layer'>) {
    this.pageSize = pageSize;
    this.fillsSectors = layer === 'vfs';
  }

  /** The log has frames from before the trace, so its pages aren't known. */
  get begunBefore(): boolean {
    return this.firstFrame > 1;
  }

  /** Number of the frame that contains a byte of the log, from 1; 0 = none. */
  frameAt(offset: number): number {
    if (this.pageSize === null || offset < this.base + WAL_HEADER) return 0;
    return 1 + Math.floor((offset - this.base - WAL_HEADER) / (this.pageSize + WAL_FRAME_HEADER));
  }

  /** The writes before belong to an ended transaction, so later ones don't fill its sector. */
  boundary(): void {
    this.lastCommitParent = -1;
  }

  /**
   * @returns whether the log's course has changed: a commit, a restart, or a truncation; or growth,
   * if commits aren't known
   */
  take(store: TraceStore, thread: number, row: number): boolean {
    const { events } = store.threads[thread]!;
    const op = AS_VFS[events.op[row]!];
    this.lastPage = 0;
    if (op === Op.xTruncate) return this.cut(events.offset[row]!);
    if (op === Op.xDelete) return this.cut(0);
    if (op === Op.xSync) this.boundary(); // a sector is filled before it is synced
    if (op !== Op.xWrite) return false;
    const offset = events.offset[row]!;
    const length = events.length[row]!;
    const aux = events.aux[row]!;
    this.fileBytes = Math.max(this.fileBytes, offset + length);
    if (aux === AUX_WAL_HEADER) {
      this.base = offset;
      return this.begin(offset + length);
    }
    if (offset === 0 && length === WAL_HEADER && !this.framesDecoded) return this.begin(length);
    const grows = offset + length > this.usedBytes;
    this.usedBytes = Math.max(this.usedBytes, offset + length);
    const frame = aux === 0 ? 0 : this.frameAt(offset);
    if (frame === 0) return grows && !this.framesDecoded; // it isn't known which frame commits
    this.framesDecoded = true;
    // its page follows if only the header was written
    const end = this.base + WAL_HEADER + frame * (this.pageSize! + WAL_FRAME_HEADER);
    this.usedBytes = Math.max(this.usedBytes, end);
    this.fileBytes = Math.max(this.fileBytes, end);
    const repeated = frame <= this.frames;
    if (!repeated) this.appended++;
    this.frames = Math.max(this.frames, frame);
    this.firstFrame ||= frame;
    this.lastPage = aux;
    this.pages.add(aux);
    this.writtenUs[frame] = events.t0[row]!;
    const commitSize = events.aux2[row]!;
    if (commitSize === 0) {
      // else it is one of the commit's own, with another checksum
      if (offset > this.lastCommitOffset) this.lastCommitParent = -1;
      return false;
    }
    const parent = events.parent[row]!;
    const padding =
      this.fillsSectors &&
      this.lastCommitParent === parent &&
      this.lastCommitAux === aux &&
      this.lastCommitAux2 === commitSize &&
      offset >= this.lastCommitOffset;
    this.lastCommitParent = parent;
    this.lastCommitAux = aux;
    this.lastCommitAux2 = commitSize;
    this.lastCommitOffset = offset;
    if (padding) return true;
    this.commits++;
    return true;
  }

  private begin(used: number): boolean {
    if (this.frames > 0 || this.usedBytes > WAL_HEADER) this.restarts++;
    this.reset(used);
    return true;
  }
  private cut(size: number): boolean {
    this.fileBytes = size;
    if (size > WAL_HEADER) return false; // journal_size_limit: the used part stays
    const was = this.frames > 0 || this.usedBytes > 0;
    if (was) this.truncations++;
    this.reset(0);
    return was;
  }
  private reset(used: number): void {
    this.frames = this.firstFrame = 0;
    this.usedBytes = used;
    this.writtenUs = [0];
    this.pages.clear();
    this.lastCommitParent = this.lastCommitOffset = -1;
  }
}

/** One history a log, in the order in which databases were first used. */
export const walHistories = fact(
  'walHistories',
  'history of write-ahead logs',
  { wals },
  (store, { wals }) => wals.map((file) => historyOf(store, file)),
);

function historyOf(store: TraceStore, file: WalFile): WalHistory {
  const wal = new WalFollower(file);
  const series = { time: [] as number[], used: [] as number[], file: [] as number[] };
  let [bytesWritten, syncs, highWater, highFrames, longest] = [0, 0, 0, 0, 0];
  for (let i = 0; i < file.row.length; i++) {
    const { events } = store.threads[file.thread[i]!]!;
    const row = file.row[i]!;
    const op = AS_VFS[events.op[row]!];
    if (!file.onWal[i]) {
      if (op === Op.xFileControl && events.aux[row] === Fcntl.commitPhaseTwo) wal.boundary();
      continue;
    }
    if (op === Op.xSync) syncs++;
    else if (op === Op.xWrite) bytesWritten += bytesMoved(events, row);
    const changed = wal.take(store, file.thread[i]!, row);
    highWater = Math.max(highWater, wal.fileBytes);
    highFrames = Math.max(highFrames, wal.frames);
    longest = Math.max(longest, wal.frames);
    if (changed) {
      // calls of threads overlap
      series.time.push(Math.max(series.time.at(-1) ?? 0, events.t0[row]! + events.dur[row]!));
      series.used.push(wal.usedBytes);
      series.file.push(wal.fileBytes);
    }
  }
  const known = wal.framesDecoded;
  return {
    path: file.path,
    layer: file.layer,
    pageSize: file.pageSize,
    bytesWritten,
    syncs,
    frames: known ? wal.appended : null,
    commits: known ? wal.commits : null,
    restarts: wal.restarts,
    truncations: wal.truncations,
    highWaterBytes: highWater,
    highWaterFrames: known ? highFrames : null,
    longestGrowthFrames: known ? longest : null,
    series: {
      timeUs: Float64Array.from(series.time),
      usedBytes: Float64Array.from(series.used),
      fileBytes: Float64Array.from(series.file),
    },
  };
}
