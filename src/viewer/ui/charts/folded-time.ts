/**
 * Time without its long pauses: what the timeline draws along while idle is skipped. Each pause has no width; a mark stands there.
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

  /** A real moment on the folded axis; one within a pause lies at its mark. */
  fold(us: number): number {
    let folded = us;
    for (const { from, to } of this.pauses) {
      if (us <= from) break;
      folded -= Math.min(us, to) - from;
    }
    return folded;
  }
  /** The real moment at a place of the folded axis; at a mark the pause's begin. */
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
    return range.to > range.from ? range : { from: range.from, to: range.from + to - from }; // all of it lies in a pause
  }
  unfoldRange({ from, to }: Range): Range {
    return { from: this.unfold(from), to: this.unfold(to) };
  }
  /** Begin and end pairs. */
  foldAll(us: Float64Array): Float64Array {
    return this.pauses.length ? us.map((one) => this.fold(one)) : us;
  }

  /** Pauses whose mark lies within a folded range, and where. */
  marks(view: Range): { at: number; us: number }[] {
    return this.pauses.flatMap(({ from, to }) => {
      const at = this.fold(from);
      return at >= view.from && at <= view.to ? [{ at, us: to - from }] : [];
    });
  }

  /** Ticks at folded places that tell real moments, not too near to a mark. */
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
/** A mark and its text take so much, px. */
const NEAR_PX = 56;
export const UNFOLDED = new FoldedTime([]);
