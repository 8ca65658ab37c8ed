/**
 * A fault profile under a VFS: it stands between the VFS's published code and the browser's storage APIs of this thread, so the VFS meets
 * the errors that a browser gives it. Nothing of the VFS or of SQLite is changed. Workers that a VFS stores in get the same profile.
 */
import type { FaultSettings } from '../model/faults.ts';
import { FaultState, type SharedFaults } from './fault-state.ts';
import type { Closable, Faults } from './faults.ts';
import { faultyIdb } from './faulty-idb.ts';
import { faultyOpfs } from './faulty-opfs.ts';
import { faultyWorkers } from './faulty-workers.ts';

export class FaultyStorage {
  readonly state: FaultState;
  private readonly open = new Set<Closable>();
  private readonly puts: (() => void)[];

  /** Patches the storage APIs of this thread. @param settings of a run on storage that is empty @param buffer of the run's first thread */
  constructor(
    private readonly settings: FaultSettings,
    buffer?: ArrayBufferLike,
  ) {
    this.state = new FaultState(buffer);
    const { slowFlush, refusedHandle, quota } = settings;
    const faults: Faults = {
      state: this.state,
      active: () => this.state.read('lifted') === 0,
      slowFlushMs: slowFlush ?? 0,
      refusedHandle: refusedHandle ?? 0,
      quota: quota ?? 0,
      opened: (handle) => void this.open.add(handle),
    };
    this.puts = [
      ...faultyOpfs(faults),
      ...faultyIdb(faults),
      ...faultyWorkers(faults.active, this.shared),
    ];
  }

  /** For another thread of the run. */
  get shared(): SharedFaults {
    const { slowFlush, refusedHandle, quota } = this.settings;
    return { settings: { slowFlush, refusedHandle, quota }, buffer: this.state.buffer };
  }

  /** The device works again, on all threads; patches of others may lie over ours, so they stay in place. */
  lift(): void {
    this.state.add('lifted');
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
