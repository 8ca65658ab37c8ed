/** Helpers for canvases: size in device pixels, stretched pictures, and the theme's colors. */
import { spanOf, type Range } from './viewport.ts';

/**
 * Set a canvas to its displayed size, CSS px, which clears it. @returns a context that draws in CSS
 * px
 */
export function sized(
  canvas: HTMLCanvasElement,
  width = canvas.clientWidth,
  height = canvas.clientHeight,
): CanvasRenderingContext2D {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const g = canvas.getContext('2d')!;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  return g;
}

/**
 * Draw the visible part of a time range's picture, stretched to its current position. Drawing the
 * whole picture would exceed the maximum canvas size at a high zoom.
 * @param of range of the picture @param view range on screen, over `width` CSS px @param from its
 * rows in the picture @param to on screen
 */
export function drawStretched(
  g: CanvasRenderingContext2D,
  picture: OffscreenCanvas,
  of: Range,
  view: Range,
  width: number,
  from: { y: number; height: number },
  to: { y: number; height: number },
): void {
  const usPerColumn = spanOf(of) / picture.width;
  const x = (column: number): number =>
    ((of.from + column * usPerColumn - view.from) / spanOf(view)) * width;
  const first = Math.max(0, Math.floor((view.from - of.from) / usPerColumn));
  const end = Math.min(picture.width, Math.ceil((view.to - of.from) / usPerColumn));
  if (end <= first) return;
  const [left, right] = [x(first), x(end)];
  g.imageSmoothingEnabled = false;
  g.drawImage(
    picture,
    first,
    from.y,
    end - first,
    from.height,
    left,
    to.y,
    right - left,
    to.height,
  );
}

/**
 * Custom properties of the theme, by the names that a drawing uses. @param element within the
 * viewer's root
 */
export function colorsOf<Name extends string>(
  element: Element,
  properties: Readonly<Record<Name, string>>,
): Record<Name, string> {
  const style = getComputedStyle(element);
  return Object.fromEntries(
    Object.entries<string>(properties).map(([name, property]) => [
      name,
      style.getPropertyValue(property).trim(),
    ]),
  ) as Record<Name, string>;
}
