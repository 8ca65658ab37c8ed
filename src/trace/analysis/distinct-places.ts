/** How many places a transaction touched, each counted once. */

/** Places that a stamp is kept for. */
const MOST_STAMPS = 1 << 22;

/** Counts distinct places, transaction after transaction, without giving memory back: a stamp by place, a set for what lies far out. */
export class DistinctPlaces {
  size = 0;
  private stamp = 1;
  private stamps = new Uint32Array(1024);
  private readonly far = new Set<number>();
  clear(): void {
    this.size = 0;
    this.stamp++;
    this.far.clear();
  }
  add(place: number): void {
    if (place >= MOST_STAMPS || !Number.isInteger(place)) {
      if (this.far.has(place)) return;
      this.far.add(place);
    } else {
      if (place >= this.stamps.length) {
        const more = new Uint32Array(Math.max(place + 1, this.stamps.length * 2));
        more.set(this.stamps);
        this.stamps = more;
      }
      if (this.stamps[place] === this.stamp) return;
      this.stamps[place] = this.stamp;
    }
    this.size++;
  }
}
