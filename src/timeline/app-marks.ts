/**
 * The lane of the app's own marks and measures (performance.mark and measure), and of what its user
 * waited for: interactions and long tasks. It also shows navigations, changes of visibility, and
 * uncaught errors.
 *
 *   |boot  [===== open report =====]      mark   measure, the innermost where they nest
 *             [= query =]
 */
import { isTraceUs, toTraceUs } from '../event/clock.ts';
import { Op } from '../event/event.ts';
import { opSet } from '../event/operations.ts';
import { auxText, objectName } from '../trace/describe.ts';
import { IntervalIndex } from '../trace/lanes/interval-index.ts';
import { toNs } from '../trace/lanes/sweep.ts';
import { firstPlace } from '../trace/number-columns.ts';
import { RowCursor } from '../trace/row-cursor.ts';
import type { ThreadStore } from '../trace/store.ts';
import { innermost } from './innermost.ts';

/** Recorded when they end: offset = begin in ms, length = microseconds. */
const SPANS = opSet(Op.measure, Op.longTask, Op.interaction);
const OWN = opSet(Op.mark, Op.measure, Op.longTask, Op.interaction, Op.error);
const MARKS = opSet(
  Op.mark,
  Op.measure,
  Op.longTask,
  Op.interaction,
  Op.error,
  Op.navigation,
  Op.visibility,
);
/** Texts beside marks are at least this far apart, px. */
const TEXT_PX = 64;

/** Moments with a text beside them. */
export interface MarkTexts {
  /** Position of each, px. */
  x: Float32Array;
  texts: string[];
}

export class AppMarks {
  /** Rows in the order in which they arrived. */
  private found: number[] = [];
  /** Moments in order, nanoseconds, and their rows. */
  private at = new Float64Array(0);
  private rows = new Uint32Array(0);
  private seen = 0;
  private readonly cursor: RowCursor;
  index = new IntervalIndex();

  constructor(
    private readonly thread: ThreadStore,
    private readonly originMs: number,
  ) {
    this.cursor = new RowCursor(thread);
  }

  /** The thread has no lane if it only has navigation and visibility, which each page has. */
  get count(): number {
    const { op } = this.thread.events;
    return this.found.some((row) => OWN[op[row]!]) ? this.found.length : 0;
  }

  /** Take in what arrived since the last update. */
  update(): void {
    const { events } = this.thread;
    if (this.cursor.restarted()) [this.found, this.seen] = [[], -1];
    for (; this.cursor.next < events.count; this.cursor.next++)
      if (MARKS[events.op[this.cursor.next]!]) this.found.push(this.cursor.next);
    if (this.found.length !== this.seen) this.order();
    this.seen = this.found.length;
  }

  /** Some are recorded when they end, so they begin before events that are already in the list. */
  private order(): void {
    const all = this.found.map((row) => ({ row, kind: 0, ...this.rangeOf(row) }));
    all.sort((a, b) => a.from - b.from || b.to - a.to);
    const moments = all.filter(({ from, to }) => from === to);
    this.at = Float64Array.from(moments, ({ from }) => from);
    this.rows = Uint32Array.from(moments, ({ row }) => row);
    this.index = innermost(all);
  }

  /** Nanoseconds. */
  private rangeOf(row: number): { from: number; to: number } {
    const { events, info } = this.thread;
    const end = events.t0[row]!;
    const begin = SPANS[events.op[row]!]
      ? toTraceUs(events.offset[row]!, info, this.originMs)
      : end;
    const us = events.length[row]!;
    if (!SPANS[events.op[row]!] || !isTraceUs(begin) || !(us > 0))
      return { from: toNs(end), to: toNs(end) };
    return { from: toNs(begin), to: toNs(begin + us) };
  }

  textOf(row: number): string {
    const { events } = this.thread;
    const op = events.op[row]!;
    const name = objectName(this.thread, events.object[row]!);
    if (op === Op.visibility) return auxText(op, events.aux[row]!);
    if (op === Op.error) return `Error: ${name}`;
    return op === Op.navigation && !name ? 'navigation' : name;
  }

  texts(fromUs: number, toUs: number, width: number): MarkTexts {
    const { at, rows } = this;
    const step = ((toUs - fromUs) * 1000) / width;
    const x: number[] = [];
    const texts: string[] = [];
    let i = firstPlace(0, at.length, (k) => at[k]! >= fromUs * 1000);
    while (i < at.length && at[i]! <= toUs * 1000) {
      x.push((at[i]! - fromUs * 1000) / step);
      texts.push(this.textOf(rows[i]!));
      const next = at[i]! + TEXT_PX * step;
      i = firstPlace(i + 1, at.length, (k) => at[k]! >= next);
    }
    return { x: Float32Array.from(x), texts };
  }
}
