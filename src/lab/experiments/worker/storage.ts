/**
 * What runs leave in this origin's storage, and its removal. The viewer's own recordings are in the
 * same OPFS and aren't touched.
 */

import { isRefusal } from './failure.ts';

/** Name of every VFS that the Lab makes, and so the prefix of what it stores. */
export const LAB = 'vfscope-lab';
/** Files and folders at OPFS's root that wa-sqlite's VFSs make for the databases of runs. */
const OPFS_ENTRY = /^\/?(?:(?:t|lab)\.db(?:-\w+)?|vfscope-lab.*|\.ahp-.*|\.wa-sqlite)$/;
const DATABASE = /vfscope-lab|^\/?(?:t|lab)\.db(?:-\w+)?$/;
/** A handle that was closed, or whose worker was terminated, is released a moment later. */
const PAUSE_MS = 50;

/** The remains of the Lab's runs, as `OPFS <name>` and `IndexedDB <name>`. */
export async function labStorage(): Promise<string[]> {
  const found: string[] = [];
  if (typeof indexedDB !== 'undefined')
    await unlessRefused(async () => {
      for (const { name } of await indexedDB.databases())
        if (name && DATABASE.test(name)) found.push(`IndexedDB ${name}`);
    });
  if (typeof navigator.storage?.getDirectory === 'function')
    await unlessRefused(async () => {
      for await (const name of (await navigator.storage.getDirectory()).keys())
        if (OPFS_ENTRY.test(name)) found.push(`OPFS ${name}`);
    });
  return found;
}

/**
 * A window that refuses storage, such as a private one, can't have stored anything, and runs in
 * memory continue.
 * @throws all other errors
 */
async function unlessRefused(look: () => Promise<void>): Promise<void> {
  try {
    await look();
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}

/**
 * Removes it.
 * @param patienceMs how long to wait for handles to be released
 * @returns what couldn't be removed, with the reason
 */
export async function removeLabStorage(patienceMs = 2000): Promise<string[]> {
  const left: string[] = [];
  for (const entry of await labStorage()) {
    const [, place, name] = /^(\w+) (.*)$/s.exec(entry)!;
    const reason =
      place === 'OPFS'
        ? await removeEntry(name!, patienceMs)
        : await removeDatabase(name!, patienceMs);
    if (reason) left.push(`${entry}: ${reason}`);
  }
  return left;
}

async function removeEntry(name: string, patienceMs: number): Promise<string | null> {
  const root = await navigator.storage.getDirectory();
  for (let waited = 0; ; waited += PAUSE_MS)
    try {
      await root.removeEntry(name, { recursive: true });
      return null;
    } catch (error) {
      if (error instanceof DOMException && error.name === 'NotFoundError') return null;
      if (waited >= patienceMs) return error instanceof Error ? error.message : String(error);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
}

function removeDatabase(name: string, patienceMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    const request = indexedDB.deleteDatabase(name);
    const late = setTimeout(() => resolve('it is still open somewhere'), patienceMs);
    const done = (reason: string | null): void => {
      clearTimeout(late);
      resolve(reason);
    };
    request.onsuccess = () => done(null);
    request.onerror = () => done(request.error?.message ?? 'it could not be deleted');
  });
}
