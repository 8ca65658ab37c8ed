/** Bytes in use of all write-ahead logs that a thread makes calls on, as in the WAL view. */
import type { WalHistory } from '../analysis/wal/wal.ts';
import { firstPlace } from '../trace/number-columns.ts';

export class WalCounter {
  private readonly us: Float64Array;
  private readonly bytes: Float64Array;

  constructor(logs: readonly Pick<WalHistory, 'series'>[]) {
    const count = logs.reduce((sum, { series }) => sum + series.timeUs.length, 0);
    this.us = new Float64Array(count);
    this.bytes = new Float64Array(count);
    /** By log: the next point, and the bytes in use before it. */
    const next = logs.map(() => 0);
    const used = logs.map(() => 0);
    let sum = 0;
    for (let i = 0; i < count; i++) {
      let log = -1;
      for (let l = 0; l < logs.length; l++)
        if (next[l]! < logs[l]!.series.timeUs.length && (log < 0 || at(l) < at(log))) log = l;
      this.us[i] = at(log);
      const bytes = logs[log]!.series.usedBytes[next[log]!++]!;
      sum += bytes - used[log]!;
      used[log] = bytes;
      this.bytes[i] = sum;
    }
    function at(log: number): number {
      return logs[log]!.series.timeUs[next[log]!]!;
    }
  }

  /** The most by column; NaN after `untilUs`. */
  most(fromUs: number, toUs: number, width: number, untilUs: number): Float32Array {
    const { us, bytes } = this;
    const step = (toUs - fromUs) / width;
    let i = firstPlace(0, us.length, (point) => us[point]! >= fromUs);
    let now = bytes[i - 1] ?? 0;
    return Float32Array.from({ length: width }, (_, column) => {
      if (fromUs + column * step > untilUs) return NaN;
      let most = now;
      for (; i < us.length && us[i]! < fromUs + (column + 1) * step; i++)
        most = Math.max(most, (now = bytes[i]!));
      return most;
    });
  }
}
