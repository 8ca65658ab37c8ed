/** The size of canvases, and how many device pixels a CSS pixel has: another number once the window is on another screen, or the page zoomed. */

/** @param changed called after each change @returns ends it */
function onDensity(changed: () => void): () => void {
  let query: MediaQueryList | undefined;
  const watch = (): void => {
    query?.removeEventListener('change', heard);
    query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    query.addEventListener('change', heard);
  };
  const heard = (): void => {
    watch();
    changed();
  };
  watch();
  return () => query?.removeEventListener('change', heard);
}

/** @param fit called with every change of their size, in CSS or device pixels @returns ends it */
export function onSize(canvases: readonly HTMLCanvasElement[], fit: () => void): () => void {
  const observer = new ResizeObserver(fit);
  for (const canvas of canvases) observer.observe(canvas);
  const endDensity = onDensity(fit);
  return () => {
    observer.disconnect();
    endDensity();
  };
}
