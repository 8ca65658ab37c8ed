/** What canvases share: their size in device pixels, and the theme's colours. */

/** Give a canvas the size that it is shown with, CSS px, which empties it. @returns to draw on in CSS px */
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

/** Custom properties of the theme by the names that a drawing has for them. @param element within the viewer's root */
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
