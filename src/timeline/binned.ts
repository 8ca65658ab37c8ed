/**
 * Means over bins of a fixed length, as columns of a picture: a mean over a longer time is lower,
 * so means over columns would depend on the picture's width.
 *
 *   bins      |    3    |    9    |    1    |     from the trace's begin on
 *   columns     3  3  3  9  9  9  9  1  1  1      of two bins the larger
 */

/**
 * @param binUs microseconds @param means of consecutive bins, from the first moment to the last,
 * microseconds
 * @returns by column, its largest bin
 */
export function binnedColumns(
  { fromUs, toUs, width }: { fromUs: number; toUs: number; width: number },
  binUs: number,
  means: (fromUs: number, toUs: number, bins: number) => Float32Array,
): Float32Array {
  const first = Math.floor(fromUs / binUs);
  const bins = Math.max(1, Math.ceil(toUs / binUs) - first);
  const values = means(first * binUs, (first + bins) * binUs, bins);
  const step = (toUs - fromUs) / width;
  const columns = new Float32Array(width);
  for (let column = 0; column < width; column++) {
    const at = (fromUs + column * step) / binUs - first;
    const end = Math.min(bins, (fromUs + (column + 1) * step) / binUs - first);
    // ignore a tiny part of the bin before or after
    let bin = Math.min(bins - 1, Math.floor(at + HAIR));
    let most = values[bin]!;
    while (++bin < end - HAIR) most = Math.max(most, values[bin]!);
    columns[column] = most;
  }
  return columns;
}
/** Share of a bin that is ignored as rounding. */
const HAIR = 1e-6;
