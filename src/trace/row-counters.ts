/**
 * Numbers that grow row by row (bytes read and written, the used part of the WAL), kept as samples of every 64th row, so that their
 * course over any stretch of time costs next to no memory: what lies between two samples is counted again from the rows.
 */
import { bytesMoved, MOVES } from './bytes-moved.ts';
import { AUX_WAL_HEADER, Op, type Definition } from './event.ts';
import type { ThreadStore } from './store.ts';

const SHIFT = 6;
const BLOCK = 1 << SHIFT;
/** Sums by place: bytes read and written by VFS calls, and by storage calls. */
const SUMS = 4;

export class RowCounters {
  private sums = new Float64Array(SUMS * 64);
  /** Bytes of the WAL in use at each block's begin, and at most within it. */
  private wal = new Float64Array(64);
  private walMost = new Float64Array(64);
  private readonly now = new Float64Array(SUMS);
  private used = 0;
  private next = 0;
  /** By object id: a WAL. */
  private readonly isWal = new Map<number, boolean>();
  /** The last one asked for. */
  private lastId = -1;
  private lastWal = false;
  /** Bytes of VFS calls were seen: those beneath them are not counted again. */
  vfs = false;
  moved = false;
  walSeen = false;
  /** Of a page, from the frames of the WAL; 0 = not known. */
  pageSize = 0;

  constructor(private readonly thread: ThreadStore) {}

  update(): void {
    const { events } = this.thread;
    for (; this.next < events.count; this.next++) {
      const row = this.next;
      if ((row & (BLOCK - 1)) === 0) this.sample(row >>> SHIFT);
      this.count(row, this.now);
      this.used = this.walAfter(row, this.used);
      const block = row >>> SHIFT;
      if (this.used > this.walMost[block]!) this.walMost[block] = this.used;
    }
    this.vfs = this.now[0]! + this.now[1]! > 0;
    this.moved = this.now.some((bytes) => bytes > 0);
  }

  private sample(block: number): void {
    if (block >= this.wal.length) {
      const more = (from: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> => {
        const to = new Float64Array(from.length * 2);
        to.set(from);
        return to;
      };
      [this.sums, this.wal, this.walMost] = [more(this.sums), more(this.wal), more(this.walMost)];
    }
    this.sums.set(this.now, block * SUMS);
    this.wal[block] = this.walMost[block] = this.used;
  }

  private count(row: number, sums: Float64Array): void {
    const { events } = this.thread;
    const moves = MOVES[events.op[row]!]!;
    if (moves) sums[moves - 1]! += bytesMoved(events, row);
  }

  private walAfter(row: number, used: number): number {
    const { op, object, offset, length, aux } = this.thread.events;
    const code = op[row]!;
    if (code !== Op.xWrite && code !== Op.xTruncate && code !== Op.xDelete) return used;
    const id = object[row]!;
    if (id !== this.lastId) {
      this.lastId = id;
      const known = this.isWal.get(id);
      this.lastWal = known ?? isWalFile(this.thread.definitions.get(id));
      if (known === undefined) this.isWal.set(id, this.lastWal);
    }
    if (!this.lastWal) return used;
    this.walSeen = true;
    if (code !== Op.xWrite) return code === Op.xDelete ? 0 : Math.min(used, offset[row]! || 0);
    const end = offset[row]! + length[row]!;
    if (length[row]! >= 512 && this.pageSize === 0 && aux[row] === 0) this.pageSize = length[row]!;
    return offset[row] === 0 || aux[row] === AUX_WAL_HEADER ? end : Math.max(used, Number.isFinite(end) ? end : 0);
  }

  /** Sums before a row, put into `to`. */
  private before(row: number, to: Float64Array): void {
    const from = Math.min(row >>> SHIFT, Math.max(0, (this.next - 1) >>> SHIFT));
    for (let i = 0; i < SUMS; i++) to[i] = this.sums[from * SUMS + i]!;
    for (let i = from << SHIFT; i < row; i++) this.count(i, to);
  }

  /** Bytes per second by column, of the calls that began in it. @param way 0 read, 1 written */
  rates(way: 0 | 1, fromUs: number, toUs: number, width: number): Float32Array {
    const values = new Float32Array(width);
    const perSecond = (1e6 * width) / (toUs - fromUs);
    const place = way + (this.vfs ? 0 : 2);
    const [a, b] = [new Float64Array(SUMS), new Float64Array(SUMS)];
    let last = -1;
    eachColumn(this.thread, fromUs, toUs, width, (column, from, to) => {
      if (to === from) return;
      if (last !== from) this.before(from, a);
      this.before(to, b);
      values[column] = (b[place]! - a[place]!) * perSecond;
      a.set(b);
      last = to;
    });
    return values;
  }

  /** Bytes of the WAL in use by column, the most within it. */
  walBytes(fromUs: number, toUs: number, width: number): Float32Array {
    const values = new Float32Array(width);
    let at = -1;
    let used = 0;
    eachColumn(this.thread, fromUs, toUs, width, (column, from, to) => {
      let row = from;
      if (at !== from) {
        const block = Math.min(from >>> SHIFT, Math.max(0, (this.next - 1) >>> SHIFT));
        used = this.wal[block]!;
        for (row = block << SHIFT; row < from; row++) used = this.walAfter(row, used);
      }
      let most = used;
      while (row < to) {
        const block = row >>> SHIFT;
        if ((row & (BLOCK - 1)) === 0 && row + BLOCK <= to && block + 1 <= (this.next - 1) >>> SHIFT) {
          most = Math.max(most, this.walMost[block]!);
          used = this.wal[block + 1]!;
          row += BLOCK;
          continue;
        }
        used = this.walAfter(row, used);
        most = Math.max(most, used);
        row++;
      }
      at = to;
      values[column] = most;
    });
    return values;
  }
}

const isWalFile = (d: Definition | undefined): boolean => d?.kind === 'file' && d.fileKind === 'wal';

/** Rows [from, to) that begin in each column. */
function eachColumn(
  { events }: ThreadStore,
  fromUs: number,
  toUs: number,
  width: number,
  take: (column: number, from: number, to: number) => void,
): void {
  const step = (toUs - fromUs) / width;
  let from = events.lowerBound(fromUs);
  for (let column = 0; column < width; column++) {
    const until = fromUs + (column + 1) * step;
    let to = from;
    // gallop: the next boundary is near
    let stride = 1;
    while (to + stride < events.count && events.t0[to + stride - 1]! < until) {
      to += stride;
      stride *= 2;
    }
    let hi = Math.min(events.count, to + stride);
    while (to < hi) {
      const mid = (to + hi) >>> 1;
      if (events.t0[mid]! < until) to = mid + 1;
      else hi = mid;
    }
    take(column, from, to);
    from = to;
  }
}
