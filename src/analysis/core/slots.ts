/**
 * Gives places dense numbers from 0, in the order of their coming, so that what is known of them lies in short arrays: an array by place
 * where places lie close, a map for those far out, which a page can make up. Memory goes with the number of places, never with the largest.
 */

/** The array reaches at most to so many times the places that came and SOME more. */
const REACH = 16;
const SOME = 256;
/** Its length when no place has come: there may be many of these. */
const FIRST = 16;

export class Slots {
  count = 0;
  /** Number + 1 by place; 0 = it has none yet. */
  private near = new Int32Array(FIRST);
  private readonly far = new Map<number, number>();

  /** The number of a place. @param place any number */
  slot(place: number): number {
    const { near } = this;
    const known = place < near.length ? near[place]! : 0;
    return known > 0 ? known - 1 : this.other(place);
  }

  /** Of a place that has none yet, or lies far out. */
  private other(place: number): number {
    if (place >= 0 && Number.isInteger(place)) {
      if (place >= this.near.length && place < REACH * (this.count + SOME)) this.reach(place);
      if (place < this.near.length) return (this.near[place] = ++this.count) - 1;
    }
    let known = this.far.get(place);
    if (known === undefined) this.far.set(place, (known = this.count++));
    return known;
  }

  /** A longer array; what it covers now need not be in the map. */
  private reach(place: number): void {
    const near = new Int32Array(
      Math.max(place + 1, Math.min(this.near.length * 2, REACH * (this.count + SOME))),
    );
    near.set(this.near);
    for (const [far, slot] of this.far)
      if (far >= 0 && far < near.length && Number.isInteger(far)) {
        near[far] = slot + 1;
        this.far.delete(far);
      }
    this.near = near;
  }
}
