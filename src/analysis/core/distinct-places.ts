/** How many places were touched since it was cleared, each counted once, without giving memory back: a stamp by place. */
import { Slots } from './slots.ts';

export class DistinctPlaces {
  size = 0;
  private stamp = 1;
  private readonly slots = new Slots();
  /** By slot: `stamp` = touched. */
  private stamps = new Uint32Array(64);

  clear(): void {
    this.size = 0;
    this.stamp++;
  }
  /** @param place any number */
  add(place: number): void {
    const slot = this.slots.slot(place);
    if (slot >= this.stamps.length) this.grow();
    if (this.stamps[slot] === this.stamp) return;
    this.stamps[slot] = this.stamp;
    this.size++;
  }
  delete(place: number): void {
    const slot = this.slots.slot(place);
    if (this.stamps[slot] !== this.stamp) return;
    this.stamps[slot] = 0;
    this.size--;
  }

  private grow(): void {
    const more = new Uint32Array(this.stamps.length * 2);
    more.set(this.stamps);
    this.stamps = more;
  }
}
