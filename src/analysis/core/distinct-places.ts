/** Counts distinct places since it was cleared, without releasing memory: a stamp by place. */
import { longer } from '../../trace/typed-arrays.ts';
import { Slots } from './slots.ts';

export class DistinctPlaces {
  size = 0;
  private stamp = 1;
  private readonly slots = new Slots();
  /** By slot: `stamp` = touched. */
  private stamps: Uint32Array = new Uint32Array(64);

  clear(): void {
    this.size = 0;
    this.stamp++;
  }
  /** @param place any number @returns whether it is the first time */
  add(place: number): boolean {
    const slot = this.slots.slot(place);
    if (slot >= this.stamps.length) this.stamps = longer(this.stamps, slot + 1);
    if (this.stamps[slot] === this.stamp) return false;
    this.stamps[slot] = this.stamp;
    this.size++;
    return true;
  }
  delete(place: number): void {
    const slot = this.slots.slot(place);
    if (this.stamps[slot] !== this.stamp) return;
    this.stamps[slot] = 0;
    this.size--;
  }
}
