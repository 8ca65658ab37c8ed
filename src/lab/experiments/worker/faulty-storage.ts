/**
 * A fault profile below a VFS. It patches this thread's storage APIs, so the VFS's published code
 * gets the errors of a real browser. The VFS and SQLite don't change. Workers that a VFS stores in
 * get the same profile.
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

  /**
   * Patches the storage APIs of this thread.
   * @param settings of a run on empty storage
   * @param buffer of the run's first thread
   */
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

  /** Removes the faults on all threads. Other patches may lie over ours, so ours stay in place. */
  lift(): void {
    this.state.add('lifted');
  }

  /**
   * Closes the access handles of the run, as the end of its worker does: a failed VFS may never
   * close some of them.
   */
  closeHandles(): void {
    for (const handle of this.open) handle.close();
    this.open.clear();
  }

  /** Restores the browser's APIs, after later patches have been removed. */
  restore(): void {
    this.lift();
    this.puts.reverse().forEach((put) => put());
  }
}
