/**
 * Reads of a page that the connection had, and that no other connection has written since: SQLite,
 * or the VFS, had dropped its copy.
 *
 *   time     ---->          R read   r read again
 *   page 7   R   r   W r
 *   page 8   R   w   R      w = another connection writes: that read had to be
 */
import { longer } from '../../trace/typed-arrays.ts';
import { Access, type Accesses } from './accesses.ts';
import { Slots } from '../core/slots.ts';

/**
 * Maximum cells of all arrays together, and of places stored separately: a page can make up
 * thousands of connections with far places.
 */
export const MOST_CELLS = 1 << 24;
export const MOST_FAR = 1 << 20;
/** Maximum askers for separately stored places: asker * 2^32 + slot must be an exact number. */
const MOST_ASKERS = 2 ** 21;

/**
 * When each asker last held each place, as ordinal numbers of the accesses: an array by asker while
 * they fit, then a map for all.
 */
export class Holders {
  /**
   * Accesses that couldn't be stored, so a later read of the place may not be detected as repeated.
   */
  untold = 0;
  private readonly seen: (Uint32Array | undefined)[] = [];
  private cells = 0;
  private readonly far = new Map<number, number>();
  private lastWrite: Uint32Array = new Uint32Array(64);

  /** @param ordinal of the access, from 1 @returns whether the asker already held the place */
  access(asker: number, slot: number, ordinal: number, write: boolean): boolean {
    this.lastWrite = longer(this.lastWrite, slot + 1);
    const seen = this.arrayOf(asker, slot);
    const before = seen ? seen[slot]! : (this.far.get(asker * 2 ** 32 + slot) ?? 0);
    const held = before > 0 && this.lastWrite[slot]! <= before;
    if (seen) seen[slot] = ordinal;
    else if (before > 0 || (this.far.size < MOST_FAR && asker < MOST_ASKERS))
      this.far.set(asker * 2 ** 32 + slot, ordinal);
    else this.untold++;
    if (write) this.lastWrite[slot] = ordinal;
    return held;
  }

  /** The asker's array, long enough for the slot; undefined if it doesn't fit. */
  private arrayOf(asker: number, slot: number): Uint32Array | undefined {
    const seen = this.seen[asker];
    if (seen && slot < seen.length) return seen;
    const length = seen?.length ?? 0;
    const size = Math.max(slot + 1, length * 2, 64);
    if (this.cells + size - length > MOST_CELLS) return undefined;
    this.cells += size - length;
    return (this.seen[asker] = longer(seen ?? new Uint32Array(0), size));
  }
}

/**
 * By access of one object, in its order: 1 = a read for which the asker held at least one of the
 * places. 0 for other objects.
 */
export function rereadsOf(accesses: Accesses, object: number): Uint8Array {
  const found = new Uint8Array(accesses.count);
  const holders = new Holders();
  const slots = new Slots();
  for (let i = 0; i < accesses.count; i++) {
    if (accesses.object[i] !== object || accesses.what[i]! & Access.checkpoint) continue;
    const write = (accesses.what[i]! & Access.write) !== 0;
    for (let n = 0; n < accesses.span[i]!; n++) {
      const held = holders.access(
        accesses.asker[i]!,
        slots.slot(accesses.place[i]! + n),
        i + 1,
        write,
      );
      if (held && !write) found[i] = 1;
    }
  }
  return found;
}
