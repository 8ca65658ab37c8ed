/**
 * A fault profile under a VFS: it stands between the VFS's published code and the browser's storage APIs of this thread, so the VFS meets
 * the errors that a browser gives it. Nothing of the VFS or of SQLite is changed.
 */
import type { FaultSettings } from '../model/faults.ts';
import type { Closable, Faults, FaultTally } from './faults.ts';
import { faultyIdb } from './faulty-idb.ts';
import { faultyOpfs } from './faulty-opfs.ts';
import { Quota } from './quota.ts';

export class FaultyStorage {
  readonly tally: FaultTally = { flushes: 0, handles: 0, refused: 0, overQuota: 0 };
  private readonly open = new Set<Closable>();
  private readonly puts: (() => void)[];
  private lifted = false;

  /** Patches the storage APIs of this thread. @param settings of a run on storage that is empty */
  constructor({ slowFlush, refusedHandle, quota }: FaultSettings) {
    const faults: Faults = {
      tally: this.tally,
      active: () => !this.lifted,
      slowFlushMs: slowFlush ?? 0,
      refusedHandle: refusedHandle ?? 0,
      quota: quota ? new Quota(quota) : null,
      opened: (handle) => void this.open.add(handle),
    };
    this.puts = [...faultyOpfs(faults), ...faultyIdb(faults)];
  }

  /** The device works again; patches of others may lie over ours, so they stay in place. */
  lift(): void {
    this.lifted = true;
  }

  /** Closes the access handles of the run, as the end of its worker does: a VFS that failed may hold some for ever. */
  closeHandles(): void {
    for (const handle of this.open) handle.close();
    this.open.clear();
  }

  /** The APIs are the browser's own again: once what was laid over ours is gone. */
  restore(): void {
    this.lift();
    this.puts.reverse().forEach((put) => put());
  }
}
