/**
 * Which rows of a long table are on screen. Browsers limit an element's height, so beyond
 * MAX_HEIGHT_PX the scroll bar is scaled: it moves faster than the rows, and the rows on screen
 * stay whole. Pure.
 *
 * `viewport` is the height in which rows are visible: of the scroll container without a sticky
 * heading.
 */

/** Below every browser's limit (Firefox: about 17.8 million px). */
export const MAX_HEIGHT_PX = 8_000_000;

interface Rows {
  /** First row to render and how many. */
  first: number;
  count: number;
  /** Height of the scrolled element, and the position of the first row in it. */
  height: number;
  top: number;
}

const heightOf = (total: number, rowHeight: number): number =>
  Math.min(total * rowHeight, MAX_HEIGHT_PX);
/** Scroll offset of the rows, px of all rows. */
function scrolledBy(total: number, rowHeight: number, scrollTop: number, viewport: number): number {
  const [whole, height] = [total * rowHeight, heightOf(total, rowHeight)];
  if (height === whole) return scrollTop;
  return Math.floor(
    Math.min(1, scrollTop / Math.max(1, height - viewport)) * Math.max(0, whole - viewport),
  );
}

/**
 * @param total number of rows @param rowHeight px @param scrollTop px of the scroll container
 * @param spare rows beyond each edge
 */
export function rowsOnScreen(
  total: number,
  rowHeight: number,
  scrollTop: number,
  viewport: number,
  spare = 8,
): Rows {
  const at = scrolledBy(total, rowHeight, scrollTop, viewport);
  const first = Math.max(0, Math.floor(at / rowHeight) - spare);
  const last = Math.min(total, Math.ceil((at + viewport) / rowHeight) + spare);
  return {
    first,
    count: Math.max(0, last - first),
    height: heightOf(total, rowHeight),
    top: scrollTop + (first * rowHeight - at),
  };
}

/** Fully visible rows: [from, to). */
export function wholeRows(
  total: number,
  rowHeight: number,
  scrollTop: number,
  viewport: number,
): { from: number; to: number } {
  const at = scrolledBy(total, rowHeight, scrollTop, viewport);
  return {
    from: Math.ceil(at / rowHeight),
    to: Math.min(total, Math.floor((at + viewport) / rowHeight)),
  };
}

/** Scroll position that centers a row. */
export function scrollTopOf(
  row: number,
  total: number,
  rowHeight: number,
  viewport: number,
): number {
  const whole = total * rowHeight;
  const at = Math.max(0, Math.min(whole - viewport, row * rowHeight - (viewport - rowHeight) / 2));
  const height = heightOf(total, rowHeight);
  return height === whole ? at : (at / Math.max(1, whole - viewport)) * (height - viewport);
}
