/** Workers that VFSs start and store in: their first message is the run's fault profile. */
import { replace } from '../../meter/seeded-realm.ts';
import type { SharedFaults } from './fault-state.ts';

/** Scripts of such workers, and the scripts that replace them and accept a profile. */
const SCRIPTS: Readonly<Record<string, string>> = {
  'absurd-helper.js': 'absurd-helper.js',
  // sqlite.org's own, as published
  'sqlite3-opfs-async-proxy.js': 'faulty-opfs-proxy.js',
};

interface FaultsMessage {
  readonly vfscopeFaults: SharedFaults;
}
export const faultsOf = (message: unknown): SharedFaults | null =>
  (message as Partial<FaultsMessage> | null)?.vfscopeFaults ?? null;

/**
 * @param active whether workers that start now get it
 * @returns a function that restores the class
 */
export function faultyWorkers(active: () => boolean, faults: SharedFaults): (() => void)[] {
  if (typeof Worker === 'undefined') return [];
  const Native = Worker;
  class FaultyWorker extends Native {
    constructor(script: string | URL, options?: WorkerOptions) {
      const url = new URL(script, self.location.href);
      const name = url.pathname.slice(url.pathname.lastIndexOf('/') + 1);
      const instead = active() ? SCRIPTS[name] : undefined;
      super(instead ? new URL(instead + url.search, url) : script, options);
      if (instead) this.postMessage({ vfscopeFaults: faults } satisfies FaultsMessage);
    }
  }
  return [replace(globalThis, 'Worker', FaultyWorker)];
}
