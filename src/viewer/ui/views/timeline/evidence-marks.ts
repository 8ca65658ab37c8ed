/** The events of the evidence as the timeline draws them, and the one at a place of their track. */
import type { EvidenceMarks } from '../../charts/timeline-overlay.ts';
import type { Evidence } from '../../navigation.ts';

export function evidenceMarksOf({ places, at }: Pick<Evidence, 'places' | 'at'>): EvidenceMarks {
  const { fromUs, toUs } = places;
  const order = Array.from(fromUs.keys())
    .filter((i) => fromUs[i]! <= toUs[i]!)
    .sort((a, b) => fromUs[a]! - fromUs[b]!);
  const now = fromUs[at]! <= toUs[at]! ? { from: fromUs[at]!, to: toUs[at]! } : null;
  return { ranges: Float64Array.from(order.flatMap((i) => [fromUs[i]!, toUs[i]!])), now };
}

/** Place of the nearest event among the evidence; -1 = none is within `slackUs`. */
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
