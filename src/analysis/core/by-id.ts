/**
 * A map by id. Ids count from 1 on each thread, so most fit a short array. An id that a page made
 * up goes into a map, because it would stretch the array.
 */
const NEAR = 1024;

export class ById<T> {
  private readonly near = new Array<T | undefined>(NEAR).fill(undefined);
  private readonly far = new Map<number, T>();

  /** @returns undefined = nothing was set */
  get(id: number): T | undefined {
    return id < NEAR ? this.near[id] : this.far.get(id);
  }
  /** @returns the value */
  set(id: number, value: T): T {
    if (id < NEAR) this.near[id] = value;
    else this.far.set(id, value);
    return value;
  }
}
