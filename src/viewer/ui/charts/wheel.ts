/**
 * What the wheel does in every picture with a time axis: zoom at the pointer; with Shift, or
 * sideways, pan.
 */
import { panBy, spanOf, zoomAt, type Range } from './viewport.ts';

/** Share of the span for each px. */
const ZOOM = 0.0022;
/** A pinch arrives as a wheel event with Ctrl, in small steps. */
const [PINCH_STEP, PINCH] = [20, 5];
const LINE_PX = 16;

/** How far the wheel was turned, px. */
export const wheelPx = ({ deltaMode }: WheelEvent, delta: number): number =>
  delta * (deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1);

/**
 * @param x px of the pointer, from the start of the view, which is `width` px wide @returns null
 * with Alt, which scrolls vertically
 */
export function wheeled(
  event: WheelEvent,
  { view, x, width, extent }: { view: Range; x: number; width: number; extent: Range },
): Range | null {
  const { deltaX, deltaY, shiftKey, ctrlKey, altKey } = event;
  if (shiftKey || Math.abs(deltaX) > Math.abs(deltaY)) {
    const sideways = shiftKey ? deltaY || deltaX : deltaX;
    return panBy(view, wheelPx(event, sideways) / width, extent);
  }
  if (altKey) return null;
  const pinch = ctrlKey && Math.abs(deltaY) < PINCH_STEP ? PINCH : 1;
  const around = view.from + (x / width) * spanOf(view);
  return zoomAt(view, around, Math.exp(wheelPx(event, deltaY) * ZOOM * pinch), extent);
}
