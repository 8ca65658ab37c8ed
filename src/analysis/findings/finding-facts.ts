/** What is said of a finding below its sentence, in this order, wherever it is shown. */
import {
  countOf,
  formatBytes,
  formatDuration,
  formatMoment,
  formatShare,
} from '../../text/numbers.ts';
import type { Finding } from '../rules/types.ts';

export const NO_FINDINGS = 'none: none of the known patterns is in this trace';

/** A finding can cost no time that a clock shows: it is about safety, or its calls took less than a step. */
export const savingText = (us: number | null): string =>
  us === null ? 'saving n/a' : us === 0 ? 'no time seen' : `saves ${formatDuration(us)}`;

export const FINDING_LABELS = {
  advice: 'What to do',
  why: 'Why',
  sure: 'How sure',
  saving: 'Saving',
} as const;

/** Texts of the trace, unescaped. */
export function findingFacts({
  advice,
  evidence,
  confidence,
  reason,
  savingUs,
  savingHow,
}: Finding): [label: string, text: string][] {
  const seen = [
    `seen ${countOf(evidence.count, 'time')}`,
    ...(evidence.bytes === null ? [] : [`${formatBytes(evidence.bytes)} moved`]),
    ...(evidence.timeShare === null
      ? []
      : [`${formatShare(evidence.timeShare)} of the trace's time`]),
    `from ${formatMoment(evidence.fromUs)} to ${formatMoment(evidence.toUs)}`,
  ];
  return [
    [FINDING_LABELS.advice, advice],
    [FINDING_LABELS.why, `${seen.join(', ')}.`],
    [FINDING_LABELS.sure, `${confidence}: ${reason}.`],
    [
      FINDING_LABELS.saving,
      `${savingUs === null ? 'n/a' : `about ${formatDuration(savingUs)}`}: ${savingHow}.`,
    ],
  ];
}
