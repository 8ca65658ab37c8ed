/**
 * Durations as counts by bucket, so that histograms of many page lives add up: four buckets per
 * octave, from 1 µs.
 */

const PER_OCTAVE = 4;
/** Over 12 days: the last bucket holds everything longer. */
export const BUCKETS = 1 + PER_OCTAVE * 40;

/** The bucket of a duration in microseconds. Bucket 0 is below 1 µs, which clocks can't resolve. */
export const bucketOf = (us: number): number =>
  us < 1 ? 0 : Math.min(BUCKETS - 1, 1 + Math.floor(PER_OCTAVE * Math.log2(us)));

/** Begin of a bucket, microseconds. It ends where the next one begins. */
export const bucketBegin = (bucket: number): number =>
  bucket === 0 ? 0 : 2 ** ((bucket - 1) / PER_OCTAVE);

/** Counts by bucket: bucket, count, bucket, count, ... ascending, counts above 0. */
export type Histogram = readonly number[];

/** Counts durations. */
export class HistogramCounter {
  private readonly counts = new Float64Array(BUCKETS);
  count = 0;
  sumUs = 0;

  /** @param n how often this duration occurred */
  add(us: number, n = 1): void {
    this.counts[bucketOf(us)]! += n;
    this.count += n;
    this.sumUs += us * n;
  }
  /** Adds another histogram. */
  addAll(histogram: Histogram): void {
    for (let i = 0; i + 1 < histogram.length; i += 2) {
      this.counts[histogram[i]!]! += histogram[i + 1]!;
      this.count += histogram[i + 1]!;
    }
  }
  histogram(): number[] {
    return Array.from(this.counts).flatMap((n, bucket) => (n ? [bucket, n] : []));
  }
  /**
   * A quantile, microseconds. It is the end of its bucket, so the true value is at most 16 % less.
   * @param q from 0 to 1
   * @returns null where nothing was counted
   */
  quantile(q: number): number | null {
    let left = q * this.count;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      left -= this.counts[bucket]!;
      if (this.counts[bucket]! && left <= 0) return bucketBegin(bucket + 1);
    }
    return null;
  }
}
