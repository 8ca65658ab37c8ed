/**
 * Numbers that grow row by row (bytes read and written, the used part of the WAL), stored as samples of every 32nd row, so that their
 * course over any time range costs next to no memory: what lies between two samples is counted again from the rows.
 */
import { MOVES, Moves } from '../event/operations.ts';
import { bytesMoved } from '../trace/bytes-moved.ts';
import { AUX_WAL_HEADER, Flag, Op } from '../event/event.ts';
import { plainPath } from '../event/file-names.ts';
import { resized } from '../trace/typed-arrays.ts';
import type { ThreadStore } from '../trace/store.ts';

const ROWS_SHIFT = 5;
const ROWS_SAMPLE = 1 << ROWS_SHIFT;
/** Sums by place: bytes read and written. */
const SUMS = 2;
/** What MOVES says of a read: of a VFS call, of a storage call. Of a write it is one more. */
const [VFS, WEB] = [Moves.vfsRead, Moves.webRead];
/** Ids of files below are remembered: a page can make up any id. */
const CLOSE_IDS = 4096;
/** Logs that are told apart; those of more databases count as the last of them. */
const MAX_LOGS = 8;
/** Of `walMost`: less than any number of bytes. */
const UNTOUCHED = -1;
/** Calls whose end is awaited, to count what they moved in truth: no honest thread has more in flight. */
const MAX_OPEN = 4096;

const sumOf = (used: Float64Array): number => used.reduce((sum, bytes) => sum + bytes, 0);

export class RowCounters {
  /** Of VFS calls; of storage calls as long as no VFS call has moved bytes. Those under VFS calls are not counted again. */
  private sums: Float64Array = new Float64Array(SUMS * 64);
  /** Bytes in use at each block's begin, by log; of all logs at most within it, UNTOUCHED where no row of the block changes it. */
  private readonly wals: Float64Array[] = [];
  private walMost: Float64Array = new Float64Array(64);
  private readonly now = new Float64Array(SUMS);
  /** Of calls that have not ended: what was counted by row. */
  private readonly open = new Map<number, number>();
  /** What was read is counted with what was written, and asked for right after it. */
  private other: { way: 0 | 1; fromUs: number; toUs: number; values: Float32Array } | null = null;
  /** Bytes in use, by log. */
  private readonly used = new Float64Array(MAX_LOGS);
  private next = 0;
  /** Places of logs, by path. */
  private readonly logs = new Map<string, number>();
  /** By object id: 1 no WAL, 2 + a log's place, 0 not looked at. */
  private readonly walIds = new Uint8Array(CLOSE_IDS);
  /** What MOVES says of a read that is counted. */
  private firstMove: number = WEB;
  moved = false;
  walSeen = false;

  constructor(private readonly thread: ThreadStore) {}

  /** Take in new rows, and ends that have come since. */
  update(): void {
    const { events } = this.thread;
    for (const [row, counted] of this.open) this.ended(row, counted);
    const { op, endSeq } = events;
    for (; this.next < events.count; this.next++) {
      const row = this.next;
      if ((row & (ROWS_SAMPLE - 1)) === 0) this.sample(row >>> ROWS_SHIFT);
      const code = op[row]!;
      const moves = MOVES[code]!;
      if (moves) {
        const bytes = bytesMoved(events, row);
        if (moves < WEB && this.firstMove === WEB && bytes > 0) this.beginVfs();
        const place = moves - this.firstMove;
        if (place === 0 || place === 1) this.now[place]! += bytes;
        // a VFS call that has moved nothing yet may be the one from which only those count
        if (endSeq[row] === 0 && place <= 1 && this.open.size < MAX_OPEN) this.open.set(row, bytes);
      }
      if (code === Op.xWrite || code === Op.xTruncate || code === Op.xDelete) {
        const before = this.walAfter(row, this.used);
        const block = row >>> ROWS_SHIFT;
        if (before !== null)
          this.walMost[block] = Math.max(this.walMost[block]!, before, sumOf(this.used));
      }
    }
    this.other = null;
    this.moved = this.now.some((bytes) => bytes > 0);
  }

  /** Give back room that is not used: nothing more is expected. */
  trim(): void {
    const blocks = Math.max(1, (this.next + ROWS_SAMPLE - 1) >>> ROWS_SHIFT);
    this.sums = resized(this.sums, blocks * SUMS);
    this.wals.forEach((wal, log) => (this.wals[log] = resized(wal, blocks)));
    this.walMost = resized(this.walMost, blocks);
  }

  /** From the first VFS call on that moves bytes only those count; there were none before it. */
  private beginVfs(): void {
    this.firstMove = VFS;
    this.sums.fill(0);
    this.now.fill(0);
    const { op } = this.thread.events;
    for (const row of this.open.keys()) if (MOVES[op[row]!]! >= WEB) this.open.delete(row);
  }

  /** An end may say that other bytes were moved than the begin did. */
  private ended(row: number, counted: number): void {
    const { events } = this.thread;
    if (events.endSeq[row] === 0) return;
    this.open.delete(row);
    const more = bytesMoved(events, row) - counted;
    if (more === 0) return;
    const moves = MOVES[events.op[row]!]!;
    if (moves < WEB && this.firstMove === WEB) this.beginVfs();
    const place = moves - this.firstMove;
    this.now[place]! += more;
    const last = (this.next - 1) >>> ROWS_SHIFT;
    for (let block = (row >>> ROWS_SHIFT) + 1; block <= last; block++)
      this.sums[block * SUMS + place]! += more;
  }

  private sample(block: number): void {
    if (block >= this.walMost.length) {
      const room = Math.max(
        this.walMost.length + (this.walMost.length >>> 1),
        this.thread.expected >>> ROWS_SHIFT,
      );
      this.sums = resized(this.sums, room * SUMS);
      this.walMost = resized(this.walMost, room);
      this.wals.forEach((wal, log) => (this.wals[log] = resized(wal, room)));
    }
    this.sums.set(this.now, block * SUMS);
    for (let log = 0; log < this.wals.length; log++) this.wals[log]![block] = this.used[log]!;
    this.walMost[block] = UNTOUCHED;
  }

  /** Place of a log; -1 = it is none. */
  private logOf(id: number): number {
    if (id < CLOSE_IDS && this.walIds[id] !== 0) return this.walIds[id]! - 2;
    const d = this.thread.definitions.get(id);
    const log = d?.kind === 'file' && d.fileKind === 'wal' ? this.logAt(plainPath(d.path)) : -1;
    if (id < CLOSE_IDS) this.walIds[id] = log + 2;
    return log;
  }
  private logAt(path: string): number {
    const known = this.logs.get(path) ?? Math.min(this.logs.size, MAX_LOGS - 1);
    if (this.logs.size < MAX_LOGS) this.logs.set(path, known);
    if (known === this.wals.length) this.wals.push(new Float64Array(this.walMost.length));
    return known;
  }

  /** Take an xWrite, xTruncate or xDelete into the bytes in use. @returns those of all logs before; null where it changes none */
  private walAfter(row: number, used: Float64Array): number | null {
    const { op, object, offset, length, aux, endSeq, result, flags } = this.thread.events;
    const code = op[row]!;
    const log = this.logOf(object[row]!);
    if (log < 0) return null;
    this.walSeen = true;
    if (endSeq[row] !== 0 && (result[row] !== 0 || flags[row]! & Flag.threw)) return null;
    const was = used[log]!;
    let now = code === Op.xDelete ? 0 : Math.min(was, offset[row]! || 0);
    if (code === Op.xWrite) {
      const end = offset[row]! + length[row]!;
      const begins = offset[row] === 0 || aux[row] === AUX_WAL_HEADER;
      now = begins ? end : Math.max(was, Number.isFinite(end) ? end : 0);
    }
    if (now === was) return null;
    const before = sumOf(used);
    used[log] = now;
    return before;
  }

  /** Bytes per second by column, of the calls that began in it. @param way 0 read, 1 written */
  rates(way: 0 | 1, fromUs: number, toUs: number, width: number): Float32Array {
    const { other } = this;
    this.other = null;
    if (
      other?.way === way &&
      other.fromUs === fromUs &&
      other.toUs === toUs &&
      other.values.length === width
    )
      return other.values;
    const both = [new Float32Array(width), new Float32Array(width)] as const;
    this.fillRates(both, fromUs, (toUs - fromUs) / width, width);
    this.other = { way: way ? 0 : 1, fromUs, toUs, values: both[way ? 0 : 1] };
    return both[way];
  }

  private fillRates(
    [read, written]: readonly [Float32Array, Float32Array],
    fromUs: number,
    step: number,
    width: number,
  ): void {
    const perSecond = 1e6 / step;
    const { firstMove } = this;
    const { sums } = this;
    const { events } = this.thread;
    const { op } = events;
    const lastBlock = Math.max(0, (this.next - 1) >>> ROWS_SHIFT);
    let [reads, writes, readsBefore, writesBefore] = [0, 0, 0, 0];
    let i = Infinity; // the row that the sums are of
    let row = 0;
    for (let column = 0; column <= width; column++) {
      row = events.lowerBound(fromUs + column * step, row);
      // from the nearest place whose sums are known; rows are taken off again where that lies behind
      const block = Math.min((row + ROWS_SAMPLE / 2) >>> ROWS_SHIFT, lastBlock);
      if (Math.abs(row - (block << ROWS_SHIFT)) < Math.abs(row - i)) {
        i = block << ROWS_SHIFT;
        [reads, writes] = [sums[block * SUMS]!, sums[block * SUMS + 1]!];
      }
      const [from, to, sign] = i <= row ? [i, row, 1] : [row, i, -1];
      for (let r = from; r < to; r++) {
        const place = MOVES[op[r]!]! - firstMove;
        if (place === 0) reads += sign * bytesMoved(events, r);
        else if (place === 1) writes += sign * bytesMoved(events, r);
      }
      i = row;
      if (column > 0) {
        read[column - 1] = (reads - readsBefore) * perSecond;
        written[column - 1] = (writes - writesBefore) * perSecond;
      }
      readsBefore = reads;
      writesBefore = writes;
    }
  }

  /** Bytes of the thread's WALs in use by column, the most within it. */
  walBytes(fromUs: number, toUs: number, width: number): Float32Array {
    const values = new Float32Array(width);
    const step = (toUs - fromUs) / width;
    const last = (this.next - 1) >>> ROWS_SHIFT;
    const { events } = this.thread;
    const { op } = events;
    let to = events.lowerBound(fromUs);
    let row = to & ~(ROWS_SAMPLE - 1);
    const used = this.used.slice();
    const begin = (block: number): void => {
      for (let log = 0; log < this.wals.length; log++) used[log] = this.wals[log]![block]!;
    };
    if (row < this.next) begin(row >>> ROWS_SHIFT);
    for (let column = 0; column <= width; column++) {
      to = events.lowerBound(fromUs + column * step, to);
      let most = sumOf(used);
      while (row < to) {
        const block = row >>> ROWS_SHIFT;
        const end = (block + 1) << ROWS_SHIFT;
        if (this.walMost[block] === UNTOUCHED) {
          row = Math.min(end, to);
          continue;
        }
        if (row === end - ROWS_SAMPLE && end <= to && block < last) {
          most = Math.max(most, this.walMost[block]!);
          begin(block + 1);
          row = end;
          continue;
        }
        const code = op[row]!;
        if (code === Op.xWrite || code === Op.xTruncate || code === Op.xDelete) {
          if (this.walAfter(row, used) !== null) most = Math.max(most, sumOf(used));
        }
        row++;
      }
      if (column > 0) values[column - 1] = most;
    }
    return values;
  }
}
