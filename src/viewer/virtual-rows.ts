/**
 * Which rows of a long table are on screen. Browsers cap an element's height, so beyond MAX_HEIGHT_PX the scroll bar is
 * scaled: it moves faster than the rows, and the rows on screen stay whole. Pure.
 */

/** Below every browser's cap (Firefox: about 17.8 million px). */
export const MAX_HEIGHT_PX = 8_000_000;

export interface Rows {
  /** First row to render and how many. */
  first: number;
  count: number;
  /** Height of the scrolled element, and where in it the first row goes. */
  height: number;
  top: number;
}

/** @param total rows in all @param rowHeight px @param scrollTop, viewport px of the scroll container @param spare rows beyond each edge */
export function rowsOnScreen(total: number, rowHeight: number, scrollTop: number, viewport: number, spare = 8): Rows {
  const whole = total * rowHeight;
  const height = Math.min(whole, MAX_HEIGHT_PX);
  const reach = Math.max(1, height - viewport);
  const at = height === whole ? scrollTop : (Math.min(1, scrollTop / reach) * Math.max(0, whole - viewport)) | 0;
  const first = Math.max(0, Math.floor(at / rowHeight) - spare);
  const last = Math.min(total, Math.ceil((at + viewport) / rowHeight) + spare);
  return { first, count: Math.max(0, last - first), height, top: scrollTop + (first * rowHeight - at) };
}

/** Where to scroll so that a row is in the middle. */
export function scrollTopOf(row: number, total: number, rowHeight: number, viewport: number): number {
  const whole = total * rowHeight;
  const at = Math.max(0, Math.min(whole - viewport, row * rowHeight - (viewport - rowHeight) / 2));
  const height = Math.min(whole, MAX_HEIGHT_PX);
  return height === whole ? at : (at / Math.max(1, whole - viewport)) * (height - viewport);
}
