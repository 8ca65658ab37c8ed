/**
 * Gives a file to the browser to save, as a download. In a DevTools panel, Chromium refuses the file picker ("Third party iframes are not
 * allowed to show a file picker"), and no page learns what became of a download: refused, canceled, and failed ones look like the others.
 */

/** How long the browser may take to begin reading; an object URL that is revoked earlier fails silently. */
const KEEP_URL_MS = 60_000;

/** @param name suggested file name */
export function saveFile(name: string, data: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(data);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEEP_URL_MS);
}
