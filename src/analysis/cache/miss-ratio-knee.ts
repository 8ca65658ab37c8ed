/**
 * The knee of a miss-ratio curve: the cache size beyond which more pages buy little.
 *
 *   misses ^ \
 *          |  \  . . . . chord from the curve's first point to its last
 *          |   *___      * = the point that lies furthest below it
 *          +-----------> pages
 */
import { missRatioAt, type MissRatio, BYTES_BESIDE_PAGE } from './miss-ratio.ts';

/** Below this share of the requests the curve is a line: it has no knee. */
const LEAST_BEND = 0.05;

/** @returns pages, or null where the curve does not bend, or has no part outside the spill zone */
export function kneeOf(curve: MissRatio): number | null {
  const first = curve.fromPages;
  const last = curve.hits.length - 1;
  const [begin, end] = [missRatioAt(curve, first), missRatioAt(curve, Math.max(first, last))];
  if (begin === null || end === null || last <= first) return null;
  let [best, at] = [0, -1];
  for (let pages = first; pages <= last; pages++) {
    const chord = begin + ((end - begin) * (pages - first)) / (last - first);
    const below = chord - missRatioAt(curve, pages)!;
    if (below > best) [best, at] = [below, pages];
  }
  return best >= LEAST_BEND ? at : null;
}

/** @param cacheSize as the PRAGMA says it: pages, or KiB where negative @returns pages; null where that cannot be told */
export function cachePages(cacheSize: string, pageBytes: number | null): number | null {
  const n = Number(cacheSize);
  if (!Number.isInteger(n) || cacheSize.trim() === '') return null;
  if (n >= 0) return n;
  return pageBytes === null ? null : Math.floor((-n * 1024) / (pageBytes + BYTES_BESIDE_PAGE));
}
