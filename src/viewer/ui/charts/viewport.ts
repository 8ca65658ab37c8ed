/**
 * The time range on screen, and how zooming and panning move it. Pure: microseconds in,
 * microseconds out.
 */

export interface Range {
  readonly from: number;
  readonly to: number;
}

/** Nothing is shorter than a nanosecond; the closest zoom shows 100 of them. */
export const MIN_SPAN_US = 0.1;
/** How far the view can go beyond the trace's ends, as a share of the span on screen. */
const SLACK = 0.5;

export const spanOf = (range: Range): number => range.to - range.from;

/** A moment in microseconds as written in an address: to the nanosecond. */
export const rounded = (us: number): number => Math.round(us * 1e3) / 1e3;

/** The whole trace with a small margin, never empty. */
export function fitAll(extent: Range): Range {
  const span = Math.max(spanOf(extent), 1);
  return { from: extent.from - span * 0.01, to: extent.to + span * 0.01 };
}

/** Keep a range within reach of the trace. */
export function clampRange(range: Range, extent: Range): Range {
  const whole = fitAll(extent);
  const span = Math.min(Math.max(spanOf(range), MIN_SPAN_US), spanOf(whole) * 4);
  const middle = (range.from + range.to) / 2;
  let from = middle - span / 2;
  from = Math.max(from, whole.from - span * SLACK);
  from = Math.min(from, whole.to - span * (1 - SLACK));
  return { from, to: from + span };
}

/**
 * Zoom around a moment that keeps its position. @param factor above 1 shows more time, below 1 less
 */
export function zoomAt(range: Range, aroundUs: number, factor: number, extent: Range): Range {
  const span = Math.min(Math.max(spanOf(range) * factor, MIN_SPAN_US), spanOf(fitAll(extent)) * 4);
  const share = (aroundUs - range.from) / spanOf(range);
  const from = aroundUs - share * span;
  return clampRange({ from, to: from + span }, extent);
}

/** @param share of the span on screen; positive moves later */
export function panBy(range: Range, share: number, extent: Range): Range {
  const by = spanOf(range) * share;
  return clampRange({ from: range.from + by, to: range.to + by }, extent);
}

/**
 * The range shown around an event without a duration: wide enough to see its neighbors on a coarse
 * clock.
 */
const INSTANT_SPAN_US = 500;

/** Show an event with some of its surroundings. */
export function fitEvent(t0: number, dur: number, extent: Range): Range {
  if (dur === 0)
    return clampRange({ from: t0 - INSTANT_SPAN_US / 2, to: t0 + INSTANT_SPAN_US / 2 }, extent);
  const span = Math.max(dur, 1);
  return clampRange({ from: t0 - span * 0.25, to: t0 + span * 1.25 }, extent);
}

/**
 * Shares of the width: a statement narrower than the first doesn't show what is in it; one wider
 * than the second leaves nothing around it.
 */
const [LEAST_SHOWN, MOST_SHOWN] = [0.1, 0.9];
/**
 * A view in which a statement fills a third, or the current view if the statement is already easy
 * to see.
 */
export function fitThird({ from, to }: Range, now: Range, extent: Range): Range {
  const share = (to - from) / spanOf(now);
  if (from >= now.from && to <= now.to && share >= LEAST_SHOWN && share <= MOST_SHOWN) return now;
  if (to === from) return fitEvent(from, 0, extent);
  return clampRange({ from: from - (to - from), to: to + (to - from) }, extent);
}

/** A range with a tenth of it on each side. */
export function around({ from, to }: Range): Range {
  const air = (to - from) * 0.1;
  return { from: from - air, to: to + air };
}

/** Move the range by the minimum that shows the event. */
export function reveal(range: Range, t0: number, dur: number, extent: Range): Range {
  if (t0 >= range.from && t0 + dur <= range.to) return range;
  const span = Math.max(spanOf(range), dur * 1.5);
  const middle = t0 + dur / 2;
  return clampRange({ from: middle - span / 2, to: middle + span / 2 }, extent);
}

/** While recording: keep the newest data at the right edge. */
export function followEnd(range: Range, extent: Range): Range {
  const span = spanOf(range);
  const whole = spanOf(extent);
  if (whole <= span) return { from: extent.from, to: extent.from + span };
  return { from: extent.to - span * 0.98, to: extent.to + span * 0.02 };
}
