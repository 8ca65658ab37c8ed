/**
 * The size of canvases and their device pixels per CSS pixel, which change when the window moves to
 * another screen or the page is zoomed.
 */

/** @param changed called after each change @returns stops watching */
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

/**
 * @param fit called with each change of their size, in CSS or device pixels @returns stops watching
 */
export function onSize(canvases: readonly HTMLCanvasElement[], fit: () => void): () => void {
  const observer = new ResizeObserver(fit);
  for (const canvas of canvases) observer.observe(canvas);
  const endDensity = onDensity(fit);
  return () => {
    observer.disconnect();
    endDensity();
  };
}
