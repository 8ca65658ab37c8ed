/** What to do, ranked: the findings of one rule are one action, and what risks data or stops the app comes before what saves time. */
import { formatDuration } from '../../text/numbers.ts';
import type { Finding } from '../rules/types.ts';

export interface Action {
  rule: string;
  /** Its findings, the largest saving first. */
  findings: Finding[];
}

/** Rules about data at risk, and an app that stands still. */
const FIRST: ReadonlySet<string> = new Set(['F05', 'F16', 'F32', 'F33', 'F42', 'F46', 'F47']);

/** As `findings` ranks the first of each rule, but for what comes first. */
export const actionsOf = (findings: readonly Finding[]): Action[] => {
  const byRule = new Map<string, Finding[]>();
  for (const finding of findings)
    byRule.set(finding.rule, [...(byRule.get(finding.rule) ?? []), finding]);
  const all = [...byRule].map(([rule, findings]): Action => ({ rule, findings }));
  return [
    ...all.filter(({ rule }) => FIRST.has(rule)),
    ...all.filter(({ rule }) => !FIRST.has(rule)),
  ];
};

/** Time in SQL as it would be after the saving of a finding, microseconds; null where one of the two is not known, or it saves other time. */
export const timeAfter = (
  nowUs: number | null,
  { savingUs, savesOutsideSql }: Pick<Finding, 'savingUs' | 'savesOutsideSql'>,
): number | null =>
  nowUs === null || savingUs === null || savesOutsideSql ? null : Math.max(0, nowUs - savingUs);

/** `880 ms → 495 ms`; `8.76 s, 2.1 ms less` where both read the same */
export function changeText(nowUs: number, afterUs: number): string {
  const now = formatDuration(nowUs);
  const after = formatDuration(afterUs);
  return now === after ? `${now}, ${formatDuration(nowUs - afterUs)} less` : `${now} → ${after}`;
}
