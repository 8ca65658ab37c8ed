/** How many device pixels a CSS pixel has: another number once the window is on another screen, or the page zoomed. */

/** @param changed called after each change @returns ends it */
export function onDensity(changed: () => void): () => void {
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
