/**
 * Percentiles by nearest rank: exact if the values are kept, or within 0.8 % if there would be too
 * many.
 */

/** The value that this share (0..1) of all don't exceed; NaN without any. */
export const percentile = (sorted: ArrayLike<number>, share: number): number =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;

/** NaN without any. */
export const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const FLOAT = new Float32Array(1);
const BITS = new Uint32Array(FLOAT.buffer);
/** Mantissa bits that are dropped: 6 of 23 stay. */
const SHIFT = 17;
const bucketOf = (us: number): number => {
  FLOAT[0] = us;
  return BITS[0]! >>> SHIFT;
};
/** From a nanosecond to half an hour. */
const FIRST = bucketOf(2 ** -10);
const BUCKETS = bucketOf(2 ** 31) - FIRST;

/** Counts in buckets of 1/64 octave, without keeping the durations. */
export class Durations {
  count = 0;
  private readonly buckets = new Uint32Array(BUCKETS);
  private zero = 0;
  /**
   * Minimum and maximum. Typed, because a field that changes from an integer to a fraction discards
   * compiled code.
   */
  private readonly range = new Float64Array([Infinity, 0]);

  /** @param us microseconds, not negative */
  add(us: number): void {
    this.count++;
    const { range } = this;
    if (us < range[0]!) range[0] = us;
    if (us > range[1]!) range[1] = us;
    if (us <= 0) {
      this.zero++;
      return;
    }
    const bucket = bucketOf(us) - FIRST;
    this.buckets[bucket < 0 ? 0 : bucket >= BUCKETS ? BUCKETS - 1 : bucket]!++;
  }

  /** The duration that this share (0..1) of all don't exceed; NaN without any. */
  percentile(share: number): number {
    if (this.count === 0) return NaN;
    const [least, most] = this.range as unknown as readonly [number, number];
    let left = Math.max(1, Math.ceil(this.count * share)) - this.zero;
    if (left <= 0) return 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      left -= this.buckets[bucket]!;
      if (left > 0) continue;
      BITS[0] = (bucket + FIRST) << SHIFT;
      return Math.min(most, Math.max(least, FLOAT[0]! * (1 + 1 / 128)));
    }
    return most;
  }
}
