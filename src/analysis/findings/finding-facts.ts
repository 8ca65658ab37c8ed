/** The facts below a finding's sentence, in this order, everywhere. */
import { countOf, formatBytes, formatDuration, formatSpan, UNKNOWN } from '../../text/numbers.ts';
import { fact } from '../core/graph.ts';
import { sqliteThreads } from '../core/main-threads.ts';
import { unseenWork } from '../core/unrecorded-workers.ts';
import type { Finding } from '../rules/types.ts';

/** The text shown if there are no findings. */
export const noFindings = fact(
  'noFindings',
  'engines seen',
  { sqliteThreads, unseenWork },
  ({ threads }, { sqliteThreads, unseenWork }): string =>
    sqliteThreads.length
      ? `No known mistake found${unseenWork ? ' in what was recorded' : ''}.`
      : threads.some(({ engines }) => engines.length)
        ? 'No SQL or VFS call was recorded. Most checks had nothing to look at.'
        : 'vfscope saw no SQLite engine. There was little to check.',
);

/**
 * A finding may have no measurable time: it is about safety, or its calls took less than a clock
 * step.
 */
export const savingText = ({ savingUs: us, savesOutsideSql }: Savings): string =>
  us === null
    ? `Saving ${UNKNOWN}`
    : us === 0
      ? 'No measurable saving'
      : `Saves ${formatDuration(us)}${savesOutsideSql ? OUTSIDE : ''}`;
type Savings = Pick<Finding, 'savingUs' | 'savesOutsideSql'>;
const OUTSIDE = ' outside SQL';

/** How certain it is that this is a cause. It isn't about the saving. */
export const causeText = (confidence: string): string => `${confidence} cause`;

export const FINDING_LABELS = {
  advice: 'What to do',
  why: 'Why',
  seen: 'Seen',
  sure: 'Cause',
  saving: 'Saving',
} as const;

/** Texts of the trace, unescaped. */
export function findingFacts(f: Finding): [label: string, text: string][] {
  const { count, bytes, fromUs, toUs } = f.evidence;
  const seen = [
    countOf(count, 'time'),
    ...(bytes === null ? [] : [`${formatBytes(bytes)} moved`]),
    `from ${formatSpan(fromUs, toUs)}`,
  ];
  const saving =
    f.savingUs === null
      ? UNKNOWN
      : `about ${formatDuration(f.savingUs)}${f.savesOutsideSql ? OUTSIDE : ''}`;
  return [
    [FINDING_LABELS.advice, f.advice],
    ...(f.why === undefined ? [] : [[FINDING_LABELS.why, f.why] satisfies [string, string]]),
    [FINDING_LABELS.seen, `${seen.join(', ')} on the timeline.`],
    [FINDING_LABELS.sure, `${f.confidence}: ${f.reason}.`],
    [FINDING_LABELS.saving, `${saving}: ${f.savingHow}.`],
  ];
}
