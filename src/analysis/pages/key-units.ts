/**
 * The distance of neighboring keys of a store: 1 if keys count blocks, or the block's bytes if they
 * are byte offsets. A store may hold several files, some of which (a journal) are written at odd
 * offsets, so nine of ten keys must be multiples of the unit.
 */

const MOST = 0.9;
/** Smaller steps between byte offsets aren't blocks. */
const SMALLEST_BLOCK = 512;

export class KeyUnits {
  /** Keys seen, without 0. */
  count = 0;
  highest = 0;
  /** Keys by the number of zero bits at their end. */
  private readonly zeros = new Float64Array(54);

  /** @param key an integer from 0 */
  add(key: number): void {
    if (key === 0) return;
    this.count++;
    this.highest = Math.max(this.highest, key);
    const low = key % 2 ** 31;
    this.zeros[low ? 31 - Math.clz32(low & -low) : 31]!++;
  }

  /**
   * @param largest bytes of the largest value; 0 = not known. A block isn't larger
   * @returns a power of two: 1, or at least 512
   */
  unit(largest = 0): number {
    let multiples = 0;
    for (let bits = 31; 2 ** bits >= SMALLEST_BLOCK; bits--) {
      multiples += this.zeros[bits]!;
      if (largest >= SMALLEST_BLOCK && 2 ** bits > largest) continue;
      if (this.count && multiples >= MOST * this.count) return 2 ** bits;
    }
    return 1;
  }

  /** Whether all keys are multiples of it. */
  allMultiplesOf(unit: number): boolean {
    for (let bits = 0; 2 ** bits < unit; bits++) if (this.zeros[bits]) return false;
    return true;
  }
}
