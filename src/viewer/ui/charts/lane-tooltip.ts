/**
 * The values that lanes draw, as text: what their full height stands for, and the values at a
 * moment.
 */
import type { LaneKind } from '../../../protocol/session.ts';
import { SQL_PARTS, type Part } from '../../../analysis/core/time-parts.ts';
import {
  UNKNOWN,
  formatBytes,
  formatDuration,
  formatNumber,
  formatShare,
} from '../../../text/numbers.ts';
import type { FrameStrip } from './frame-strip.ts';
import type { LaneBox } from './timeline-layout.ts';

/** The value in LaneFrame.stack for a full column. */
const WHOLE = 255;

/** A counter's value in its unit. */
function counterText(kind: LaneKind, value: number): string {
  if (kind === 'cache') return formatShare(value);
  if (kind === 'queue') return formatNumber(value);
  return `${formatBytes(value)}${kind === 'reads' || kind === 'writes' ? '/s' : ''}`;
}

/** Counters whose values are means over a bin: they are lower in longer bins. */
const MEANS: readonly LaneKind[] = ['reads', 'writes', 'queue'];
const overText = (kind: LaneKind, binUs: number): string =>
  MEANS.includes(kind) ? ` over ${formatDuration(binUs)}` : '';

/**
 * For a counter: its largest value on screen with its unit, and the length of time that it covers.
 * The full height of a hit rate's lane is always 100%.
 * @param binUs as in TimelineFrame
 */
export const scaleText = (kind: LaneKind, most: number, binUs: number): string =>
  kind === 'cache'
    ? counterText(kind, 1)
    : `max ${counterText(kind, most)}${overText(kind, binUs)}`;

/** A column of the lane of CPU and I/O: its time range, microseconds, and what took the time. */
export interface TimeColumn {
  fromUs: number;
  toUs: number;
  /** Shares above 0, in the order of SQL_PARTS. */
  parts: { part: Part; share: number }[];
  /** Not analyzed yet: the calls in flight are shown instead of where the time went. */
  rough: boolean;
}

/** The column of a lane's picture at a moment; -1 = outside. */
function columnAt({ frame: { from, to, width } }: FrameStrip, us: number): number {
  const column = Math.floor(((us - from) / (to - from)) * width);
  return column < width ? column : -1;
}

/**
 * What the lane of CPU and I/O shows at a moment; null for other lanes, and where nothing is
 * painted.
 */
export function timeColumn(
  strip: FrameStrip | null,
  { key }: Pick<LaneBox, 'key'>,
  us: number,
): TimeColumn | null {
  const { stack, exact = Infinity } = strip?.lanes.get(key)?.frame ?? {};
  const column = strip && stack ? columnAt(strip, us) : -1;
  if (!strip || !stack || column < 0) return null;
  const { from, to, width } = strip.frame;
  const step = (to - from) / width;
  return {
    fromUs: from + column * step,
    toUs: from + (column + 1) * step,
    parts: SQL_PARTS.map((part, i) => ({
      part,
      share: stack[column * SQL_PARTS.length + i]! / WHOLE,
    })).filter(({ share }) => share > 0),
    rough: column >= exact,
  };
}

/**
 * What a counter's lane shows at a moment, as painted; '' for other lanes, and where nothing is
 * painted.
 */
export function laneTooltip(
  strip: FrameStrip | null,
  { key, kind, title }: Pick<LaneBox, 'key' | 'kind' | 'title'>,
  us: number,
): string {
  const { values } = strip?.lanes.get(key)?.frame ?? {};
  const column = strip && values ? columnAt(strip, us) : -1;
  if (!values || column < 0) return '';
  const { binUs } = strip!.frame;
  return `${title.replace(/ B\/s$/, '')}: ${values[column]! >= 0 ? `${counterText(kind, values[column]!)}${overText(kind, binUs)}` : UNKNOWN}`;
}
