/** Offers data to the user as a download, which works in DevTools panels, where the file picker is refused. */

/** How long the browser may take to begin reading; an object URL that is revoked earlier fails silently. */
const KEEP_URL_MS = 60_000;

/** @param name suggested file name */
export async function saveFile(name: string, data: Blob): Promise<void> {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(data);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEEP_URL_MS);
}
