/** Asks the page of a recording, in our own isolated world, what the browser says of its storage. Nothing is requested, only read. */
import { runInPage } from '../platform/in-page.ts';
import { isStorageHealth, type StorageHealth } from '../protocol/storage-health.ts';

/** A recording that is to stop does not wait longer. */
const WAIT_MS = 500;

/** Carried over as text: uses nothing from outside its own braces. */
async function look(): Promise<StorageHealth> {
  const storage = navigator.storage as StorageManager | undefined; // secure contexts alone have it
  const { quota = null, usage = null } = (await storage?.estimate()) ?? {};
  return { origin: location.origin, quota, usage, persisted: (await storage?.persisted()) ?? null };
}

/** @returns null where the page does not answer in time, or cannot be asked */
export async function storageOf(tabId: number): Promise<StorageHealth | null> {
  const late = new Promise<null>((done) => setTimeout(done, WAIT_MS, null));
  try {
    const answer = await Promise.race([runInPage(tabId, look, []), late]);
    return isStorageHealth(answer) ? answer : null;
  } catch (e) {
    console.warn('vfscope: the page could not be asked about its storage:', e); // a page of the browser's own, or gone
    return null;
  }
}
