/**
 * Turns ranges that may overlap into disjoint intervals: each moment belongs to the one that began
 * last.
 */
import { IntervalIndex } from '../trace/lanes/interval-index.ts';

/** Nanoseconds. */
export interface NsRange {
  row: number;
  kind: number;
  from: number;
  to: number;
}

/**
 * @param ranges by their begin; of those that begin together the longest first; empty ones stay
 * moments
 */
export function innermost(ranges: readonly NsRange[]): IntervalIndex {
  const index = new IntervalIndex();
  const open: NsRange[] = [];
  let cursor = -Infinity;
  const advance = (until: number): void => {
    for (let last = open.at(-1); last && cursor < until; last = open.at(-1)) {
      const end = Math.min(last.to, until);
      if (end > cursor) index.push(cursor, end - cursor, last.kind, last.row);
      cursor = Math.max(cursor, end);
      if (last.to <= until) open.pop();
    }
    cursor = Math.max(cursor, until);
  };
  for (const range of ranges) {
    advance(range.from);
    if (range.to > range.from) open.push(range);
    else index.push(range.from, 0, range.kind, range.row);
  }
  advance(Infinity);
  return index;
}
