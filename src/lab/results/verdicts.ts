/** Verdicts and conclusions as sentences, for the page, the command, and reports. */
import { counterText, counterValue } from '../experiments/model/counter-words.ts';
import { isOfFault } from '../experiments/model/fault-verdict.ts';
import { keepsData } from '../experiments/model/vfs-facts.ts';
import type { PlacedExperiment } from '../experiments/on-vfs.ts';
import type { Compared, Verdict } from '../experiments/model/result-types.ts';
import { countOf, formatExact } from '../../text/numbers.ts';

/** The label of a claim, decided or not. */
export const verdictWord = ({ holds }: Verdict): string =>
  holds === null ? 'open' : holds ? 'holds' : 'fails';

/** The measured numbers: `3 syncs against 300`. '' where the claim wasn't decided by numbers. */
function measuredText({ left, right, compared }: Verdict): string {
  if (left === null || right === null) return '';
  if (!compared) return `${formatExact(left)} against ${formatExact(right)}`;
  const { stepMs } = compared;
  if (compared.right === null) return counterText(left, compared.left, stepMs);
  const other =
    compared.right === compared.left
      ? counterValue(right, compared.right, stepMs)
      : counterText(right, compared.right, stepMs);
  return `${counterText(left, compared.left, stepMs)} against ${other}`;
}

const SIGNS: Readonly<Record<Compared['is'], string>> = {
  '=': '=',
  '<': '<',
  '<=': '≤',
  '>': '>',
  '>=': '≥',
};
/** The unmet requirement: `needed: 53 × 3 < 60`. */
function neededText({ holds, left, right, compared }: Verdict): string {
  if (holds !== false || !compared || left === null || right === null) return '';
  const { left: counter, right: other, is, times, stepMs } = compared;
  const side = (n: number, of: string, factor: number): string =>
    `${counterValue(n, of, stepMs)}${factor === 1 ? '' : ` × ${formatExact(factor)}`}`;
  return `needed: ${side(left, counter, times[0])} ${SIGNS[is]} ${side(right, other ?? counter, times[1])}`;
}

/** A claim with its measurements, as one sentence. */
export function verdictSentence(verdict: Verdict): string {
  const parts = [measuredText(verdict), neededText(verdict), verdict.why ?? ''].filter(Boolean);
  return `${[verdict.text, parts.join('; ')].filter(Boolean).join(': ')}.`;
}

/** How many of the claims were confirmed. */
function decidedText(verdicts: readonly Verdict[]): string {
  const of = (holds: Verdict['holds']): number => verdicts.filter((v) => v.holds === holds).length;
  const [held, failed, open] = [of(true), of(false), of(null)];
  if (held === verdicts.length)
    return held === 1 ? 'The one claim holds.' : `All ${countOf(held, 'claim')} hold.`;
  const parts = [
    `${held} of ${countOf(verdicts.length, 'claim')} ${held === 1 ? 'holds' : 'hold'}`,
    ...(failed ? [`${failed} ${failed === 1 ? 'does' : 'do'} not`] : []),
    ...(open ? [`${open} ${open === 1 ? 'is' : 'are'} open`] : []),
  ];
  return `${parts.join(', ')}.`;
}

/**
 * What follows from a run. A conclusion that the run left open or contradicted is named so.
 * @param verdicts of the experiment, decided
 */
export function conclusionTexts(
  { conclusions, variants }: Pick<PlacedExperiment, 'conclusions' | 'variants'>,
  verdicts: readonly Verdict[],
): string[] {
  if (verdicts.length === 0) return [];
  const stores = variants.some(({ config: { vfs } }) => vfs && keepsData(vfs));
  return [
    decidedText(verdicts),
    ...conclusions.map(({ says, rests, ofStorage }) => {
      if (ofStorage && !stores) return `Nothing was stored, so this run doesn't decide it: ${says}`;
      const own = verdicts.filter((verdict) =>
        rests ? rests.test(verdict.text) : !isOfFault(verdict),
      );
      if (own.some(({ holds }) => holds === false)) return `This run contradicts it: ${says}`;
      const open = own.filter(({ holds }) => holds === null).length;
      if (open === 0 && own.length > 0) return says;
      return own.length === open
        ? `This run doesn't decide it: ${says}`
        : `This run decides it in part (${open} of ${own.length} open): ${says}`;
    }),
  ];
}
