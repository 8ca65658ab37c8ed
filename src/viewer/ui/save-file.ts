/**
 * Offers a file to the user as a download. In a DevTools panel, Chromium refuses the file picker
 * ("Third party iframes are not allowed to show a file picker"), and pages can't tell whether a
 * download was refused, canceled, or failed.
 */

/**
 * How long the browser may take to start reading. If the object URL is revoked earlier, the
 * download fails silently.
 */
const KEEP_URL_MS = 60_000;

/** @param name suggested file name */
export function saveFile(name: string, data: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(data);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEEP_URL_MS);
}
