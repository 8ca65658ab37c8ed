/** Bytes in use of the write-ahead logs that a thread makes calls on, all together: the series that the WAL view shows. */
import type { WalHistory } from '../analysis/wal/wal.ts';
import { firstPlace } from '../trace/number-columns.ts';

export class WalCounter {
  private readonly us: Float64Array;
  private readonly bytes: Float64Array;

  constructor(logs: readonly Pick<WalHistory, 'series'>[]) {
    const points = logs.flatMap(({ series: { timeUs, usedBytes } }, log) =>
      Array.from(timeUs, (us, i) => ({ us, log, bytes: usedBytes[i]! })),
    );
    points.sort((a, b) => a.us - b.us);
    const used = logs.map(() => 0);
    this.us = Float64Array.from(points, ({ us }) => us);
    this.bytes = Float64Array.from(points, ({ log, bytes }) => {
      used[log] = bytes;
      return used.reduce((sum, n) => sum + n, 0);
    });
  }

  /** The most by column; NaN behind `untilUs`. */
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
