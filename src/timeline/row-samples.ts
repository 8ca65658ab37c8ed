/**
 * When every 32nd row of a thread began: finds the rows at the boundaries of a frame's columns without going through the times of all
 * rows. Where columns hold hundreds of rows, a boundary is only found to within a block, as totals-cursor.ts does with samples.
 */
import type { EventColumns } from '../trace/columns.ts';
import { resized } from '../trace/resized.ts';

export const ROWS_SHIFT = 5;
export const ROWS_SAMPLE = 1 << ROWS_SHIFT;
/** Of a column's time: blocks of rows as short as that are not looked into. */
const COARSE = 1 / 16;

/** Where the columns of a frame begin and end. */
interface Boundaries {
  /** By boundary: the rows that begin before it; where `share` is not 0 the first row of the block that it falls into. */
  readonly rows: Uint32Array;
  /** By boundary: how much of that block's time lies before it, 0..1. */
  readonly shares: Float32Array;
}

export class RowSamples {
  /** Begin of each block's first row, microseconds. */
  private begins: Float64Array = new Float64Array(64);
  private count = 0;
  /** The boundaries asked for last, and which they are. */
  private readonly found = {
    fromUs: 0,
    step: 0,
    width: -1,
    rows: new Uint32Array(0),
    shares: new Float32Array(0),
  };

  constructor(readonly events: EventColumns) {}

  /** Take in new rows. */
  update(): void {
    const blocks = (this.events.count + ROWS_SAMPLE - 1) >>> ROWS_SHIFT;
    if (blocks > this.begins.length) {
      this.begins = resized(
        this.begins,
        Math.max(blocks, this.begins.length + (this.begins.length >>> 1)),
      );
    }
    for (; this.count < blocks; this.count++)
      this.begins[this.count] = this.events.t0[this.count << ROWS_SHIFT]!;
    this.found.width = -1;
  }

  /** Give back room that is not used: nothing more is expected. */
  trim(): void {
    this.begins = resized(this.begins, Math.max(1, this.count));
  }

  /** Boundaries of `width` columns; valid until the next call. The same ones are not looked for again. */
  boundaries(fromUs: number, step: number, width: number): Boundaries {
    const { found } = this;
    if (found.fromUs !== fromUs || found.step !== step || found.width !== width) {
      if (found.rows.length !== width + 1) {
        found.rows = new Uint32Array(width + 1);
        found.shares = new Float32Array(width + 1);
      }
      let block = 0;
      for (let i = 0; i <= width; i++)
        block = this.find(i, fromUs + i * step, block, step * COARSE);
      Object.assign(found, { fromUs, step, width });
    }
    return found;
  }

  /** @param from a block that begins before `us`, or 0 @returns the block that `us` falls into */
  private find(boundary: number, us: number, from: number, coarseUs: number): number {
    const { begins, count, events } = this;
    let lo = from;
    let hi = count;
    for (let stride = 1; lo + stride < hi; stride *= 2)
      if (begins[lo + stride]! >= us) {
        hi = lo + stride;
        break;
      } else lo += stride; // gallop: the next boundary is near
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if (begins[mid]! < us) lo = mid + 1;
      else hi = mid;
    }
    const block = Math.max(0, lo - 1);
    let row = block << ROWS_SHIFT;
    let share = 0;
    const span = block + 1 < count ? begins[block + 1]! - begins[block]! : Infinity;
    if (lo > 0 && span <= coarseUs) share = (us - begins[block]!) / span;
    else {
      const { t0 } = events;
      let end = Math.min(row + ROWS_SAMPLE, events.count);
      while (row < end) {
        const mid = (row + end) >>> 1;
        if (t0[mid]! < us) row = mid + 1;
        else end = mid;
      }
    }
    this.found.rows[boundary] = row;
    this.found.shares[boundary] = share;
    return block;
  }
}
