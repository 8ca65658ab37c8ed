/**
 * Bytes read and written so far, sampled at every 32nd row. The rest is counted from the rows when
 * a time range is requested, so that this takes almost no memory.
 */
import { isLog } from '../analysis/wal/wal-files.ts';
import { MOVES, Moves } from '../event/operations.ts';
import { bytesMoved } from '../trace/bytes-moved.ts';
import { resized } from '../trace/typed-arrays.ts';
import type { ThreadStore } from '../trace/store.ts';

const ROWS_SHIFT = 5;
const ROWS_SAMPLE = 1 << ROWS_SHIFT;
/** Sums by place: bytes read and written. */
const SUMS = 2;
/** What MOVES has for a read by a VFS call and by a storage call. A write has one more. */
const [VFS, WEB] = [Moves.vfsRead, Moves.webRead];
/**
 * Calls whose end is awaited to know how many bytes they really moved. No real thread has more open
 * calls.
 */
const MAX_OPEN = 4096;

export class RowCounters {
  /**
   * Bytes of VFS calls, or of storage calls until a VFS call moves bytes. Storage calls made by VFS
   * calls are not counted again.
   */
  private sums: Float64Array = new Float64Array(SUMS * 64);
  private readonly now = new Float64Array(SUMS);
  /** Open calls: what was counted, by row. */
  private readonly open = new Map<number, number>();
  /** Reads and writes are counted together. The other result is cached, as it is requested next. */
  private other: { way: 0 | 1; fromUs: number; toUs: number; values: Float32Array } | null = null;
  private next = 0;
  /** What MOVES has for a read that is counted. */
  private firstMove: number = WEB;
  moved = false;
  /** A write-ahead log was written, so it will have a lane. */
  walSeen = false;

  constructor(private readonly thread: ThreadStore) {}

  /** Take in new rows, and the ends that have arrived since. */
  update(): void {
    const { events, definitions } = this.thread;
    for (const [row, counted] of this.open) this.ended(row, counted);
    const { op, endSeq, object } = events;
    let last = -1;
    for (; this.next < events.count; this.next++) {
      const row = this.next;
      if ((row & (ROWS_SAMPLE - 1)) === 0) this.sample(row >>> ROWS_SHIFT);
      const moves = MOVES[op[row]!]!;
      if (moves) {
        const bytes = bytesMoved(events, row);
        if (moves < WEB && this.firstMove === WEB && bytes > 0) this.beginVfs();
        if (!this.walSeen && moves !== VFS && moves !== WEB && object[row] !== last)
          this.walSeen = isLog(definitions.get((last = object[row]!)));
        const place = moves - this.firstMove;
        if (place === 0 || place === 1) this.now[place]! += bytes;
        // a VFS call that has moved nothing yet may be the one after which only VFS calls count
        if (endSeq[row] === 0 && place <= 1 && this.open.size < MAX_OPEN) this.open.set(row, bytes);
      }
    }
    this.other = null;
    this.moved = this.now.some((bytes) => bytes > 0);
  }

  /** Release unused memory: no more rows are expected. */
  trim(): void {
    const blocks = Math.max(1, (this.next + ROWS_SAMPLE - 1) >>> ROWS_SHIFT);
    this.sums = resized(this.sums, blocks * SUMS);
  }

  /** From the first VFS call that moves bytes on, only VFS calls count. */
  private beginVfs(): void {
    this.firstMove = VFS;
    this.sums.fill(0);
    this.now.fill(0);
    const { op } = this.thread.events;
    for (const row of this.open.keys()) if (MOVES[op[row]!]! >= WEB) this.open.delete(row);
  }

  /** The end may report another number of bytes than the begin did. */
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
    const blocks = this.sums.length / SUMS;
    if (block >= blocks) {
      const room = Math.max(blocks + (blocks >>> 1), this.thread.expected >>> ROWS_SHIFT);
      this.sums = resized(this.sums, room * SUMS);
    }
    this.sums.set(this.now, block * SUMS);
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
      // from the nearest sample; if it lies after the row, rows are subtracted
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
}
