/** Page-cache hit rate of a thread over time, from SQLite's own counters (sqlCounters events). */
import { CounterReadings } from '../analysis/core/counter-deltas.ts';
import { firstPlace } from '../trace/number-columns.ts';
import type { ThreadStore } from '../trace/store.ts';

export class CacheCounter {
  /** Readings: when, and hits and misses of all connections up to then. */
  private us: number[] = [];
  private hits: number[] = [];
  private misses: number[] = [];
  private readonly readings = new CounterReadings();
  private next = 0;

  constructor(private readonly thread: ThreadStore) {}

  get seen(): boolean {
    return this.us.length > 0;
  }

  update(): void {
    const { events } = this.thread;
    for (; this.next < events.count; this.next++) {
      const since = this.readings.take(events, this.next);
      if (!since?.known) continue;
      this.us.push(events.t0[this.next]!);
      this.hits.push((this.hits.at(-1) ?? 0) + since.hits);
      this.misses.push((this.misses.at(-1) ?? 0) + since.misses);
    }
  }

  /** Hit rate by column, 0..1; between readings the last one holds; NaN before the first. */
  rates(fromUs: number, toUs: number, width: number): Float32Array {
    const values = new Float32Array(width).fill(NaN);
    const { us, hits, misses } = this;
    const step = (toUs - fromUs) / width;
    let i = firstPlace(0, us.length, (reading) => us[reading]! >= fromUs);
    const rate = (from: number, to: number): number => {
      const h = (hits[to - 1] ?? 0) - (hits[from - 1] ?? 0);
      const all = h + (misses[to - 1] ?? 0) - (misses[from - 1] ?? 0);
      return all > 0 ? h / all : NaN;
    };
    let held = i > 0 ? rate(i - 1, i) : NaN;
    for (let column = 0; column < width; column++) {
      const from = i;
      const until = fromUs + (column + 1) * step;
      while (i < us.length && us[i]! < until) i++;
      if (i > from) {
        const now = rate(from, i);
        if (!Number.isNaN(now)) held = now;
      }
      values[column] = held;
    }
    return values;
  }
}
