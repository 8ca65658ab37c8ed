/**
 * A frame of the timeline as pixels. Pure: numbers in, 32-bit pixels out, so that tests need no
 * canvas. A bar's height is its share of the column's time, its color is the activity that took
 * most of it.
 */
import { SQL_PARTS } from '../../../analysis/core/time-parts.ts';
import { ACTIVITIES } from '../../../event/operations.ts';
import { IDB_WAIT } from '../../../trace/lanes/lanes.ts';
import { LockLevel } from '../../../sqlite/constants.ts';
import type { LaneFrame } from '../../../protocol/session.ts';

/** Pixels in a canvas's memory layout on little-endian machines: 0xAABBGGRR. One per activity. */
export interface PaintColors {
  activity: Uint32Array;
  /** Parts of the time partition, in the order of SQL_PARTS. */
  parts: Uint32Array;
  /** Statements by kind, in the order of STATEMENT_KINDS. */
  statement: Uint32Array;
  accent: number;
  /** Counters and the app's marks, which aren't activity. */
  neutral: number;
  /** Phases of transactions, by the activity whose color they use. */
  phases: Uint32Array;
  /** Parts of requests, in the order of REQUEST_PARTS. */
  requests: Uint32Array;
  background: number;
}

/** A rectangle of pixels to paint into. */
export interface Surface {
  pixels: Uint32Array;
  /** Pixels per row. */
  width: number;
  height: number;
}

/** Shares of a column in LaneFrame.stack. */
const PARTS = SQL_PARTS.length;
/** What isn't analyzed yet is hatched: distance between lines of the background color, px. */
const HATCH = 4;
/** Pixels of the line on top of a counter's area. */
const LINE = 2;

/** '#rrggbb' as a canvas pixel. @throws RangeError for any other notation */
export function pixelOf(color: string): number {
  const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color.trim());
  if (!match) throw new RangeError(`a theme color is #rrggbb, got "${color}"`);
  const [r, g, b] = match.slice(1).map((hex) => parseInt(hex, 16)) as [number, number, number];
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** Mix two colors: `share` of the first. */
export function mixed(a: number, b: number, share: number): number {
  let out = 255;
  for (const shift of [16, 8, 0])
    out =
      (out << 8) | Math.round(((a >>> shift) & 255) * share + ((b >>> shift) & 255) * (1 - share));
  return out >>> 0;
}

function column(
  { pixels, width }: Surface,
  x: number,
  top: number,
  bottom: number,
  pixel: number,
): void {
  for (let at = top * width + x, end = bottom * width; at < end; at += width) pixels[at] = pixel;
}

/** Minimum height of a column with any activity, px. */
function barHeight(share: number, height: number, least: number): number {
  return share === 0 ? 0 : Math.max(least, Math.round((share / 255) * height));
}

/** Paints a lane into its place. @param least minimum height of a column with any activity, px */
type PaintLane = (
  s: Surface,
  frame: LaneFrame,
  y: number,
  height: number,
  colors: PaintColors,
  least: number,
) => void;

/** VFS and storage lanes: one bar per column, from the bottom up. */
export const paintCalls: PaintLane = (s, frame, y, height, colors, least) => {
  const n = Math.min(s.width, frame.busy.length);
  for (let x = 0; x < n; x++) {
    const bar = barHeight(frame.busy[x]!, height, least);
    if (bar) column(s, x, y + height - bar, y + height, colors.activity[frame.activity[x]!]!);
  }
};

/** Storage lanes: an IndexedDB transaction without a running request is hatched. */
export const paintStorage: PaintLane = (s, frame, y, height, colors, least) => {
  paintCalls(s, frame, y, height, colors, least);
  const pale = mixed(colors.activity[IDB_WAIT]!, colors.background, IDB_PALE);
  const n = Math.min(s.width, frame.busy.length);
  for (let x = 0; x < n; x++) {
    if (!frame.busy[x] || frame.activity[x] !== IDB_WAIT) continue;
    for (let at = y + height - barHeight(frame.busy[x]!, height, least); at < y + height; at++)
      if ((x + at) % IDB_HATCH < IDB_HATCH / 2) s.pixels[at * s.width + x] = pale;
  }
};
/** Distance between hatches, px, and the color share of the paler one. */
export const IDB_HATCH = 6;
export const IDB_PALE = 0.45;

/** A held level is an outline, because the thread does something else meanwhile. */
const HOLD_PALE = 0.25;
/** Lock lanes: a step at the height of the held level. */
export const paintLock: PaintLane = (s, frame, y, height, colors) => {
  const n = Math.min(s.width, frame.busy.length);
  const topOf = (x: number): number => {
    const level = Math.min(LockLevel.exclusive, frame.busy[x] ?? 0);
    return y + height - Math.round((level / LockLevel.exclusive) * height);
  };
  const line = colors.activity[ACTIVITIES.indexOf('lock')]!;
  const pale = mixed(line, colors.background, HOLD_PALE);
  let before = y + height;
  for (let x = 0; x < n; x++) {
    const top = topOf(x);
    column(s, x, top, y + height, pale);
    column(s, x, top, Math.min(top + LINE, y + height), line);
    if (top !== before) column(s, x, Math.min(top, before), Math.max(top, before), line);
    before = top;
  }
};

/**
 * SQL lanes: a span wherever a statement ran, in the tint of the kind that took most of the column.
 */
export const paintSql: PaintLane = (s, frame, y, height, colors) => {
  const n = Math.min(s.width, frame.busy.length);
  for (let x = 0; x < n; x++)
    if (frame.busy[x]) column(s, x, y + 1, y + height - 1, colors.statement[frame.activity[x]!]!);
};

/** Sums of a stack's parts from the bottom up, so that rounding leaves no gap. @returns the top */
function paintStack(
  s: Surface,
  x: number,
  stack: Uint8Array,
  bottom: number,
  height: number,
  colors: PaintColors,
  least: number,
  exact: boolean,
): number {
  let sum = 0;
  let top = bottom;
  for (let part = 0, at = x * PARTS; part < PARTS; part++, at++) {
    if (!stack[at]) continue;
    sum += stack[at]!;
    const next = Math.max(
      bottom - height,
      Math.min(
        top - (top === bottom ? least : 1),
        bottom - Math.round((Math.min(255, sum) / 255) * height),
      ),
    );
    if (next < top) column(s, x, next, top, colors.parts[part]!);
    top = Math.min(top, next);
  }
  if (!exact)
    for (let y = top; y < bottom; y++)
      if ((x + y) % HATCH === 0) column(s, x, y, y + 1, colors.background);
  return top;
}

/** Where the time while SQL runs went: CPU at the bottom, waiting on top of it. */
export const paintTime: PaintLane = (s, frame, y, height, colors, least) => {
  const { stack, exact = Infinity } = frame;
  if (!stack) return;
  const n = Math.min(s.width, stack.length / PARTS);
  for (let x = 0; x < n; x++) paintStack(s, x, stack, y + height, height, colors, least, x < exact);
};

/** Counters: an area from the bottom up to the value. @param most value of the full height */
export function paintArea(
  s: Surface,
  values: Float32Array,
  most: number,
  y: number,
  height: number,
  colors: { line: number; area: number },
): void {
  const n = Math.min(s.width, values.length);
  for (let x = 0; x < n; x++) {
    const value = values[x]!;
    if (!(value > 0)) continue;
    const top = y + height - Math.max(1, Math.round(Math.min(1, value / most) * height));
    const under = Math.min(top + LINE, y + height);
    column(s, x, top, under, colors.line);
    column(s, x, under, y + height, colors.area);
  }
}

/** Largest value, or 0. */
export function mostOf(values: Float32Array): number {
  let most = 0;
  for (let i = 0; i < values.length; i++) if (values[i]! > most) most = values[i]!;
  return most;
}

/** The overview: all threads stacked in one strip. Threads without SQL show their storage calls. */
export function paintOverview(
  s: Surface,
  lanes: readonly LaneFrame[],
  colors: PaintColors,
  least: number,
): void {
  const threadOf = (frame: LaneFrame): string => frame.key.slice(0, frame.key.indexOf(':'));
  const threads = new Map<string, LaneFrame>();
  for (const frame of lanes)
    if (frame.stack || !threads.has(threadOf(frame))) threads.set(threadOf(frame), frame);
  const tops = new Int32Array(s.width).fill(s.height);
  for (const { stack, exact = Infinity, busy, activity } of threads.values()) {
    const n = Math.min(s.width, stack ? stack.length / PARTS : busy.length);
    for (let x = 0; x < n; x++) {
      if (tops[x] === 0) continue;
      if (stack)
        tops[x] = paintStack(
          s,
          x,
          stack,
          tops[x]!,
          Math.min(s.height, tops[x]!),
          colors,
          least,
          x < exact,
        );
      else if (busy[x]) {
        const top = Math.max(0, tops[x]! - barHeight(busy[x]!, s.height, least));
        column(s, x, top, tops[x]!, colors.activity[activity[x]!]!);
        tops[x] = top;
      }
    }
  }
}
