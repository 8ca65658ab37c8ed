/**
 * What a page's user waited for, as the browser reported it: interactions and long tasks. Reported
 * afterwards: offset = begin in ms, length = us.
 */
import { toTraceUs } from '../../event/clock.ts';
import type { Op } from '../../event/event.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { firstPlace } from '../../trace/number-columns.ts';
import type { RowsByOperation } from '../core/rows-by-operation.ts';

export interface PageSpan {
  row: number;
  /** Microseconds of the trace. */
  fromUs: number;
  toUs: number;
}

/** Users notice longer delays, microseconds (web.dev/articles/rail). */
export const NOTICED_US = 100_000;

/** How many spans are examined for one: a page can make up spans that all last for hours. */
const MOST_AT_ONCE = 100;

/** All such spans of a thread, by their begin. */
export function pageSpans(
  { info, events: { offset, length } }: ThreadStore,
  rows: RowsByOperation,
  op: typeof Op.interaction | typeof Op.longTask,
  originMs: number,
): PageSpan[] {
  return Array.from(rows.of(op), (row) => {
    const fromUs = toTraceUs(offset[row]!, info, originMs);
    return { row, fromUs, toUs: fromUs + length[row]! };
  }).sort((a, b) => a.fromUs - b.fromUs);
}

/**
 * The first span that contains a moment of [fromUs, toUs]; null = none was recorded.
 * @param spans of one thread
 */
export function spanIn(spans: readonly PageSpan[], fromUs: number, toUs = fromUs): PageSpan | null {
  const end = firstPlace(0, spans.length, (i) => spans[i]!.fromUs > toUs);
  const begun = spans.slice(Math.max(0, end - MOST_AT_ONCE), end);
  return begun.find((span) => span.toUs >= fromUs) ?? null;
}
