/** All probes of a thread: records the storage APIs under a VFS into the thread's ring. */
import type { Recorder } from '../record/recorder.ts';
import { installAtomics } from './atomics.ts';
import { installHttp } from './http.ts';
import { installIndexedDb } from './indexeddb.ts';
import { installLocalStorage } from './local-storage.ts';
import { PromiseWatch } from '../record/promise-watch.ts';
import { installOpfs } from './opfs.ts';
import { Patches } from '../record/patches.ts';
import { ProbeContext } from './context.ts';
import { installWebLocks } from './web-locks.ts';

export interface InstalledProbes {
  /**
   * Restore every patched property. @returns names of those that the app has frozen; these stay and
   * pass their calls on
   */
  restore(): string[];
}

/**
 * Patch this realm's IndexedDB, OPFS, Web Locks, Atomics, localStorage, and HTTP requests. Call
 * before the app's first line. A probe that can't be installed is reported as a fault; the others
 * work.
 * @param watch of this realm, if there already is one; it ends with the probes
 */
export function installProbes(
  recorder: Recorder,
  scope: typeof globalThis = globalThis,
  watch = new PromiseWatch(scope as unknown as EventTarget),
): InstalledProbes {
  const patches = new Patches();
  const context = new ProbeContext(recorder, patches, scope);
  const installers: [string, () => void][] = [
    ['IndexedDB', () => installIndexedDb(context)],
    ['OPFS', () => installOpfs(context, watch)],
    ['Web Locks', () => installWebLocks(context, watch)],
    ['Atomics', () => installAtomics(context)],
    ['localStorage', () => installLocalStorage(context)],
    ['HTTP', () => installHttp(context)],
  ];
  for (const [name, install] of installers)
    try {
      install();
    } catch (e) {
      recorder.fault(`probe ${name}`, e);
    }
  return {
    restore() {
      watch.restore();
      return patches.restore();
    },
  };
}
