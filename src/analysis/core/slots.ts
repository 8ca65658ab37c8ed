/**
 * Gives places dense numbers from 0, in the order in which they occur, so that their data fits
 * short arrays. Close places are in an array, and far ones, which a page can make up, in a map. So
 * memory depends on the number of places, not on the largest.
 */

/** The array reaches at most this many times the number of places, plus SOME. */
const REACH = 16;
const SOME = 256;
/** Its initial length, because there may be many of these objects. */
const FIRST = 16;

export class Slots {
  count = 0;
  /** Number + 1 by place; 0 = none yet. */
  private near = new Int32Array(FIRST);
  private readonly far = new Map<number, number>();

  /** The number of a place. @param place any number */
  slot(place: number): number {
    const { near } = this;
    const known = place < near.length ? near[place]! : 0;
    return known > 0 ? known - 1 : this.other(place);
  }

  /** For a place that is new or far. */
  private other(place: number): number {
    if (place >= 0 && Number.isInteger(place)) {
      if (place >= this.near.length && place < REACH * (this.count + SOME)) this.reach(place);
      if (place < this.near.length) return (this.near[place] = ++this.count) - 1;
    }
    let known = this.far.get(place);
    if (known === undefined) this.far.set(place, (known = this.count++));
    return known;
  }

  /** Lengthens the array. Places that it then covers needn't be in the map. */
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
