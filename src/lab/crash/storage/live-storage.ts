/** The storage that VFSs run on: a disk in memory that logs each call that changes it. */
import { Disk } from './disk.ts';
import type { Call } from './calls.ts';
import { StorageLog } from './calls.ts';

export class LiveStorage {
  readonly log = new StorageLog();
  /** @param disk the initial content, which is changed */
  constructor(readonly disk = new Disk()) {}

  /** Makes a change and logs it. */
  make(call: Call): void {
    const before = call.kind === 'commit' ? '' : this.pooledName(call.file);
    this.disk.apply(call);
    if (call.kind === 'commit') return this.log.add(call, call.database);
    const pooled = before || this.pooledName(call.file);
    this.log.add(call, pooled ? `${call.file} (${pooled})` : call.file);
  }

  /**
   * Pools of access handles give files random names and store SQLite's name at the start. '' = no
   * name.
   */
  private pooledName(file: string): string {
    const start = this.disk.bytesOf(file).subarray(0, 512);
    if (start[0] !== 0x2f) return '';
    const text = new TextDecoder('latin1').decode(start.subarray(0, Math.max(0, start.indexOf(0))));
    return /^[\x20-\x7e]+$/.test(text) ? text.slice(1) : '';
  }
}
