/**
 * Walks the events of several threads, or some events of each, in order of begin, without a copy.
 * Threads of one trace share one clock.
 */
import type { Numbers } from '../../trace/typed-arrays.ts';

/**
 * Maximum rows of a run: a function that is called often is compiled sooner than a loop inside it.
 */
const LONGEST = 4096;

/** A thread, or events chosen from it: begins by row. */
interface Timed {
  readonly events: { readonly t0: Numbers; readonly count: number };
}

/**
 * @param each called for runs of rows [from, to) of one thread, by begin; rows of one thread stay
 * in the thread's own order
 */
export function eachRunInTimeOrder<T extends Timed>(
  threads: readonly T[],
  each: (thread: T, from: number, to: number) => void,
): void {
  new Merge(threads).walk(each, Infinity);
}

/** The same with pauses: it yields after about this many rows. */
export function* partsInTimeOrder<T extends Timed>(
  threads: readonly T[],
  each: (thread: T, from: number, to: number) => void,
  rows: number,
): Generator<void> {
  const merge = new Merge(threads);
  while (merge.walk(each, rows)) yield;
}

/** The position in each thread, and the run that comes next. */
class Merge<T extends Timed> {
  thread = 0;
  from = 0;
  to = 0;
  private readonly at: Uint32Array;
  /** Begin of each thread's next row; Infinity = none left. */
  private readonly nextUs: Float64Array;

  private readonly threads: readonly T[];

  constructor(all: readonly T[]) {
    this.threads = all.filter(({ events }) => events.count > 0);
    this.at = new Uint32Array(this.threads.length);
    this.nextUs = Float64Array.from(this.threads, ({ events }) => events.t0[0]!);
  }

  /** @param rows about so many @returns false at the end */
  walk(each: (thread: T, from: number, to: number) => void, rows: number): boolean {
    for (let left = rows; left > 0; left -= this.to - this.from) {
      if (!this.next()) return false;
      each(this.threads[this.thread]!, this.from, this.to);
    }
    return true;
  }

  private next(): boolean {
    const { nextUs, at } = this;
    let first = 0;
    let secondUs = Infinity;
    for (let i = 1; i < nextUs.length; i++) {
      const us = nextUs[i]!;
      if (us < nextUs[first]!) {
        secondUs = nextUs[first]!;
        first = i;
      } else if (us < secondUs) secondUs = us;
    }
    if (!(nextUs[first]! < Infinity)) return false;
    const { t0, count } = this.threads[first]!.events;
    const from = at[first]!;
    const stop = Math.min(count, from + LONGEST);
    let to = from + 1;
    if (secondUs === Infinity) to = stop;
    else while (to < stop && t0[to]! <= secondUs) to++;
    at[first] = to;
    nextUs[first] = to < count ? t0[to]! : Infinity;
    this.thread = first;
    this.from = from;
    this.to = to;
    return true;
  }
}
