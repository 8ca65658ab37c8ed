/**
 * What a fault profile has done so far, and whether it is active. All threads of a run share it,
 * where the browser has shared memory. Counts are exact, whichever thread adds to them.
 */
import type { FaultSettings } from '../model/faults.ts';

const CELLS = ['flushes', 'handles', 'refused', 'overQuota', 'lifted', 'used'] as const;
type Cell = (typeof CELLS)[number];
export type FaultTally = Readonly<Record<'flushes' | 'handles' | 'refused' | 'overQuota', number>>;

/** A profile for another thread. */
export interface SharedFaults {
  readonly settings: FaultSettings;
  readonly buffer: ArrayBufferLike;
}

export class FaultState {
  private readonly cells: BigInt64Array;

  /** @param buffer from another thread; absent: a new one */
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

  /**
   * Adds stored bytes.
   * @param grown negative: they shrink
   * @returns false, without a change, where they exceed the quota
   */
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

/** The browser's error when storage is full. */
export const quotaError = (): DOMException =>
  new DOMException('The storage quota is used up, as the fault profile asks', 'QuotaExceededError');
