/** Hands a file to the user, as a download. */

/** How long a download may take to begin. */
const KEPT_MS = 60_000;

export function saveFile(name: string, data: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(data);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}
