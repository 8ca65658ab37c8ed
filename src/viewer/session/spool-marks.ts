/**
 * Which copies on disk the user has saved as files. Each has an empty file with the copy's name, in
 * a separate folder. Browsers don't report whether a download succeeded, so a saved recording keeps
 * its copy, like any other.
 */

const FOLDER = 'spool-saved';

const folder = async (): Promise<FileSystemDirectoryHandle> =>
  (await navigator.storage.getDirectory()).getDirectoryHandle(FOLDER, { create: true });

/** There is no such file. */
export const isMissing = (error: unknown): boolean =>
  (error as DOMException | undefined)?.name === 'NotFoundError';

/** Saved again: the mark gets a new time. */
export async function markSaved(name: string): Promise<void> {
  await unmark(name);
  await (await folder()).getFileHandle(name, { create: true });
}

/** Remove a file that may not exist. */
export async function removeFrom(folder: FileSystemDirectoryHandle, name: string): Promise<void> {
  try {
    await folder.removeEntry(name);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
export const unmark = async (name: string): Promise<void> => removeFrom(await folder(), name);

/** When it was saved, ms; null = it wasn't. */
export async function whenSaved(name: string): Promise<number | null> {
  try {
    return (await (await (await folder()).getFileHandle(name)).getFile()).lastModified;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
