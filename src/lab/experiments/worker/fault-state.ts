/**
 * What a fault profile did so far, and whether it still acts: one for all threads of a run, where the browser gives shared memory. Counts
 * are exact, whichever thread adds to them.
 */
import type { FaultSettings } from '../model/faults.ts';

const CELLS = ['flushes', 'handles', 'refused', 'overQuota', 'lifted', 'used'] as const;
type Cell = (typeof CELLS)[number];
export type FaultTally = Readonly<Record<'flushes' | 'handles' | 'refused' | 'overQuota', number>>;

/** A profile as another thread gets it. */
export interface SharedFaults {
  readonly settings: FaultSettings;
  readonly buffer: ArrayBufferLike;
}

export class FaultState {
  private readonly cells: BigInt64Array;

  /** @param buffer another thread's; absent: a new one */
  constructor(readonly buffer: ArrayBufferLike = newBuffer()) {
    this.cells = new BigInt64Array(buffer);
  }

  /** @returns the new value */
  add(cell: Cell, n = 1): number {
    return Number(Atomics.add(this.cells, CELLS.indexOf(cell), BigInt(n))) + n;
  }
  read(cell: Cell): number {
    return Number(Atomics.load(this.cells, CELLS.indexOf(cell)));
  }
  tally(): FaultTally {
    const [flushes, handles, refused, overQuota] = [
      this.read('flushes'),
      this.read('handles'),
      this.read('refused'),
      this.read('overQuota'),
    ];
    return { flushes, handles, refused, overQuota };
  }

  /** Stored bytes grow. @param grown negative: they shrink @returns false, and nothing changes, where they grow beyond the quota */
  store(grown: number, quota: number): boolean {
    for (;;) {
      const used = this.read('used');
      if (grown > 0 && used + grown > quota) return false;
      const [before, after] = [BigInt(used), BigInt(used + grown)];
      if (Atomics.compareExchange(this.cells, CELLS.indexOf('used'), before, after) === before)
        return true;
    }
  }
}

function newBuffer(): ArrayBufferLike {
  const bytes = CELLS.length * BigInt64Array.BYTES_PER_ELEMENT;
  return typeof SharedArrayBuffer === 'undefined'
    ? new ArrayBuffer(bytes)
    : new SharedArrayBuffer(bytes);
}

/** The error of a browser whose storage is full. */
export const quotaError = (): DOMException =>
  new DOMException('The storage quota is used up, as the fault profile asks', 'QuotaExceededError');
