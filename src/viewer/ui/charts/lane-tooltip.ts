/** The values that lanes draw, as text: what their full height stands for, and what they are at a moment. */
import type { LaneKind } from '../../../protocol/session.ts';
import { PART_WORDS, SQL_PARTS } from '../../../analysis/core/time-parts.ts';
import { UNKNOWN, formatBytes, formatNumber, formatShare } from '../../../text/numbers.ts';
import type { FrameStrip } from './frame-strip.ts';
import type { LaneBox } from './timeline-layout.ts';

/** Of what stands for all of a column in LaneFrame.stack. */
const WHOLE = 255;

/** A counter's value in its unit. */
function counterText(kind: LaneKind, value: number): string {
  if (kind === 'cache') return formatShare(value);
  if (kind === 'queue') return formatNumber(value);
  return `${formatBytes(value)}${kind === 'wal' ? '' : '/s'}`;
}

/** Of a counter: its largest value on screen, in its unit; a hit rate's lane is always as high as all hits. */
export const scaleText = (kind: LaneKind, most: number): string =>
  kind === 'cache' ? counterText(kind, 1) : `at most ${counterText(kind, most)}`;

/** What a lane of values shows at a moment, as it is painted; '' for other lanes, and where nothing is painted. */
export function laneTooltip(
  strip: FrameStrip | null,
  { key, kind, title }: Pick<LaneBox, 'key' | 'kind' | 'title'>,
  us: number,
): string {
  const painted = strip?.lanes.get(key)?.frame;
  if (!strip || !painted) return '';
  const { from, to, width } = strip.frame;
  const column = Math.floor(((us - from) / (to - from)) * width);
  if (column < 0 || column >= width) return '';
  const { values, stack, exact = Infinity } = painted;
  if (values)
    return `${title.replace(/ B\/s$/, '')}: ${values[column]! >= 0 ? counterText(kind, values[column]!) : UNKNOWN}`;
  if (!stack) return '';
  const shares = SQL_PARTS.map((part, i) => ({
    title: PART_WORDS[part].title,
    share: stack[column * SQL_PARTS.length + i]! / WHOLE,
  }));
  const parts = shares
    .filter(({ share }) => share > 0)
    .map((part) => `${part.title} ${formatShare(part.share)}`);
  const said = parts.join(', ') || 'No SQL runs';
  return column < exact ? said : `Not analyzed yet. In flight: ${said}`;
}
