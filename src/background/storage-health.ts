/**
 * Reads, in our isolated world of a recorded page, what the browser reports about its storage. It
 * requests no permission and changes nothing.
 */
import { runInPage } from '../platform/in-page.ts';
import { isStorageHealth, type StorageHealth } from '../protocol/storage-health.ts';

/** A recording that should stop waits no longer than this. */
const WAIT_MS = 500;

/** Injected as text, so it uses nothing from outside its own braces. */
async function look(): Promise<StorageHealth> {
  const storage = navigator.storage as StorageManager | undefined; // only secure contexts have it
  const { quota = null, usage = null } = (await storage?.estimate()) ?? {};
  return { origin: location.origin, quota, usage, persisted: (await storage?.persisted()) ?? null };
}

/** @returns null if the page doesn't answer in time, or can't be asked */
export async function storageOf(tabId: number): Promise<StorageHealth | null> {
  const late = new Promise<null>((done) => setTimeout(done, WAIT_MS, null));
  try {
    const answer = await Promise.race([runInPage(tabId, look, []), late]);
    return isStorageHealth(answer) ? answer : null;
  } catch (e) {
    // a browser page, or closed
    console.warn("vfscope: can't ask the page about its storage:", e);
    return null;
  }
}
