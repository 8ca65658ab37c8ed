/**
 * The knee of a miss-ratio curve: the cache size above which more pages gain little.
 *
 *   misses ^ \
 *          |  \  . . . . chord from the curve's first point to its last
 *          |   *___      * = the point that lies furthest below it
 *          +-----------> pages
 */
import { sizeToHold } from './cache-size.ts';
import { missRatioAt, type MissRatio } from './miss-ratio.ts';

/**
 * If the bend is below this share of the smallest cache's misses, the curve is a line and has no
 * knee.
 */
const LEAST_BEND = 0.05;

/** @returns pages, or null if the curve doesn't bend, or is completely in the spill zone */
export function kneeOf(curve: MissRatio): number | null {
  const first = curve.fromPages;
  const last = sizeToHold(curve.hits.length - 1);
  const [begin, end] = [missRatioAt(curve, first), missRatioAt(curve, Math.max(first, last))];
  if (begin === null || end === null || last <= first) return null;
  let [best, at] = [0, -1];
  for (let pages = first; pages <= last; pages++) {
    const chord = begin + ((end - begin) * (pages - first)) / (last - first);
    const below = chord - missRatioAt(curve, pages)!;
    if (below > best) [best, at] = [below, pages];
  }
  return best > 0 && best >= LEAST_BEND * begin ? at : null;
}
