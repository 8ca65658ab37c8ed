/**
 * The events of the evidence as the timeline draws them, and the one at a position of their track.
 */
import type { EvidenceMarks } from '../../charts/timeline-overlay.ts';
import type { Evidence } from '../../navigation.ts';

/** Start and end times, ordered by start. Events that don't exist are left out. */
function pairs(from: Float64Array, to: Float64Array): Float64Array {
  const order = Array.from(from.keys())
    .filter((i) => from[i]! <= to[i]!)
    .sort((a, b) => from[a]! - from[b]!);
  return Float64Array.from(order.flatMap((i) => [from[i]!, to[i]!]));
}

export function evidenceMarksOf({ places, at }: Pick<Evidence, 'places' | 'at'>): EvidenceMarks {
  const { fromUs, toUs, statementFromUs, statementToUs } = places;
  const now = fromUs[at]! <= toUs[at]! ? { from: fromUs[at]!, to: toUs[at]! } : null;
  return { ranges: pairs(fromUs, toUs), statements: pairs(statementFromUs, statementToUs), now };
}

/** Index of the nearest event among the evidence; -1 = none within `slackUs`. */
export function evidenceAt(
  { places: { fromUs, toUs } }: Pick<Evidence, 'places'>,
  us: number,
  slackUs: number,
): number {
  let [best, nearest] = [-1, slackUs];
  for (let i = 0; i < fromUs.length; i++) {
    const away = Math.max(0, fromUs[i]! - us, us - toUs[i]!);
    if (away <= nearest) [best, nearest] = [i, away];
  }
  return best;
}
