/**
 * Time without its long pauses: the axis that the timeline uses while idle time is skipped. A pause
 * has no width; a mark shows where it is.
 *
 *   real    0    2 |......| 9   10        folded = real - the pauses before
 *   folded  0    2 | 2        3
 */
import type { Tick } from './ticks.ts';
import { timeTicks } from './ticks.ts';
import { spanOf, type Range } from './viewport.ts';

export class FoldedTime {
  /** @param pauses ascending and disjoint, microseconds */
  constructor(readonly pauses: readonly Range[]) {}

  /** A real moment on the folded axis. A moment within a pause is at its mark. */
  fold(us: number): number {
    let folded = us;
    for (const { from, to } of this.pauses) {
      if (us <= from) break;
      folded -= Math.min(us, to) - from;
    }
    return folded;
  }
  /** The real moment at a position of the folded axis; at a mark, the pause's start. */
  unfold(folded: number): number {
    let us = folded;
    for (const { from, to } of this.pauses) {
      if (us <= from) break;
      us += to - from;
    }
    return us;
  }
  foldRange({ from, to }: Range): Range {
    if (!this.pauses.length) return { from, to };
    const range = { from: this.fold(from), to: this.fold(to) };
    // all of it is in a pause
    return range.to > range.from ? range : { from: range.from, to: range.from + to - from };
  }
  unfoldRange({ from, to }: Range): Range {
    return { from: this.unfold(from), to: this.unfold(to) };
  }
  /** Pairs of start and end. */
  foldAll(us: Float64Array): Float64Array {
    return this.pauses.length ? us.map((one) => this.fold(one)) : us;
  }

  /** Pauses whose mark is within a folded range, and their positions. */
  marks(view: Range): { at: number; us: number }[] {
    return this.pauses.flatMap(({ from, to }) => {
      const at = this.fold(from);
      return at >= view.from && at <= view.to ? [{ at, us: to - from }] : [];
    });
  }

  /** Ticks at folded positions with real times as labels, away from marks. */
  ticks(view: Range, width: number): Tick[] {
    if (!this.pauses.length) return timeTicks(view, width);
    const marks = this.marks(view).map(({ at }) => at);
    const near = (spanOf(view) / width) * NEAR_PX;
    const edges = [view.from, ...marks, view.to];
    return edges.slice(1).flatMap((end, i) => {
      const begin = edges[i]!;
      const wide = ((end - begin) / spanOf(view)) * width;
      const shift = this.unfold((begin + end) / 2) - (begin + end) / 2;
      return timeTicks({ from: begin + shift, to: end + shift }, wide)
        .map(({ at, label }) => ({ at: at - shift, label }))
        .filter(({ at }) => i === 0 || at - begin > near);
    });
  }
}
/** Width of a mark and its text, px. */
const NEAR_PX = 56;
export const UNFOLDED = new FoldedTime([]);
