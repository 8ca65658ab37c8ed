/** How fast a recording's counts grow, second by second: the sparklines of the live strip. */

/** Number of seconds that are drawn. */
export const SPARK_SECONDS = 30;

export class LiveRates {
  /** By count: totals at the end of each second, the running one last. */
  private readonly totals = new Map<string, number[]>();
  private beganMs = NaN;
  /** Seconds that were removed from the lists. */
  private gone = 0;

  /**
   * The current counts.
   * @param nowMs any steady clock @param counts total by name; null = not known
   * @returns whether a second has ended since the last call
   */
  add(nowMs: number, counts: Iterable<readonly [name: string, total: number | null]>): boolean {
    if (Number.isNaN(this.beganMs)) this.beganMs = nowMs;
    const second = Math.floor((nowMs - this.beganMs) / 1000) - this.gone;
    let ended = false;
    for (const [name, total] of counts) {
      if (total === null) continue;
      const list = this.totals.get(name) ?? [];
      this.totals.set(name, list);
      const last = list.length - 1;
      const from = list.at(-1) ?? 0;
      // spread counts of several seconds without a report evenly
      for (let s = last + 1; s <= second; s++)
        list.push(from + ((total - from) * (s - last)) / (second - last));
      list[second] = total;
      ended ||= second > last;
    }
    const over = second + 1 - (SPARK_SECONDS + 2);
    if (over > 0) {
      this.gone += over;
      for (const list of this.totals.values()) list.splice(0, over);
    }
    return ended;
  }

  /** Per second, for the last full seconds, oldest first. */
  rates(name: string): number[] {
    const list = this.totals.get(name) ?? [];
    const whole = list.slice(0, -1);
    const each = whole.map((total, s) => total - (whole[s - 1] ?? 0));
    return (this.gone ? each.slice(1) : each).slice(-SPARK_SECONDS);
  }
}
