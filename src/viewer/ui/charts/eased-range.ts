/**
 * A range that animates to its target within 120 ms, so that the eye can follow. If the user
 * prefers reduced motion, it jumps.
 */
import { spanOf, type Range } from './viewport.ts';

const EASE_MS = 120;
/**
 * Beyond this zoom factor, or beyond a move by this many spans, nothing on screen can be followed.
 */
const [MOST_ZOOM, MOST_SPANS] = [40, 3];

/** Where a range is after a share of its animation, 0..1: fast at first. */
export function between(from: Range, to: Range, share: number): Range {
  const left = (1 - share) ** 3;
  return {
    from: to.from + (from.from - to.from) * left,
    to: to.to + (from.to - to.to) * left,
  };
}

/** Whether the eye can follow the animation between two ranges. */
export function canFollow(from: Range, to: Range): boolean {
  const zoom = spanOf(from) / spanOf(to);
  const apart = Math.max(0, to.from - from.to, from.from - to.to);
  return (
    zoom < MOST_ZOOM &&
    zoom > 1 / MOST_ZOOM &&
    apart <= MOST_SPANS * Math.max(spanOf(from), spanOf(to))
  );
}

export class EasedRange {
  private way: { from: Range; to: Range; began: number } | null = null;
  private scheduled = 0;
  private readonly still = matchMedia('(prefers-reduced-motion: reduce)');

  /** @param shown called with each intermediate range, and the last */
  constructor(
    private now: Range,
    private readonly shown: (range: Range) => void,
  ) {}

  destroy(): void {
    cancelAnimationFrame(this.scheduled);
  }

  /** @param atOnce the user moves it directly, or it moves continuously */
  go(to: Range, atOnce: boolean): void {
    if (to.from === (this.way?.to ?? this.now).from && to.to === (this.way?.to ?? this.now).to)
      return;
    if (atOnce || this.still.matches || !canFollow(this.now, to)) {
      this.way = null;
      this.show(to);
      return;
    }
    this.way = { from: this.now, to, began: performance.now() };
    this.step();
  }

  private show(range: Range): void {
    this.now = range;
    this.shown(range);
  }
  private step(): void {
    if (!this.scheduled)
      this.scheduled = requestAnimationFrame(() => {
        this.scheduled = 0;
        const { way } = this;
        if (!way) return;
        const share = Math.min(1, (performance.now() - way.began) / EASE_MS);
        if (share === 1) this.way = null;
        else this.step();
        this.show(share === 1 ? way.to : between(way.from, way.to, share));
      });
  }
}
