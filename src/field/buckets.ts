/** Durations as counts by bucket, so that histograms of many page lives add up: four buckets an octave, from 1 µs. */

const PER_OCTAVE = 4;
/** Over 12 days: the last bucket takes what is longer. */
export const BUCKETS = 1 + PER_OCTAVE * 40;

/** The bucket of a duration in microseconds. Bucket 0 is below 1 µs: less than clocks tell. */
export const bucketOf = (us: number): number =>
  us < 1 ? 0 : Math.min(BUCKETS - 1, 1 + Math.floor(PER_OCTAVE * Math.log2(us)));

/** Where a bucket begins, microseconds; it ends where the next one begins. */
export const bucketBegin = (bucket: number): number =>
  bucket === 0 ? 0 : 2 ** ((bucket - 1) / PER_OCTAVE);

/** Counts by bucket: bucket, count, bucket, count, ... ascending, counts above 0. */
export type Histogram = readonly number[];

/** Counts durations. */
export class HistogramCounter {
  private readonly counts = new Float64Array(BUCKETS);
  count = 0;
  sumUs = 0;

  /** @param n times this duration */
  add(us: number, n = 1): void {
    this.counts[bucketOf(us)]! += n;
    this.count += n;
    this.sumUs += us * n;
  }
  /** Takes a histogram in. */
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
   * A quantile, microseconds: where its bucket ends, so the true one is at most 16 % less.
   * @param q from 0 to 1 @returns null where nothing was counted
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
