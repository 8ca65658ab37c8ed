/**
 * What to do, ranked. The findings of one rule are one action. Actions against risks for data and
 * against a stopped app come before those that save time.
 */
import { formatDuration } from '../../text/numbers.ts';
import type { Finding } from '../rules/types.ts';

export interface Action {
  rule: string;
  /** Its findings, the largest saving first. */
  findings: Finding[];
  /** Rule of an action before it in the list that solves the same problem; null = none. */
  insteadOf: string | null;
}

/** Rules about data at risk, and about an app that stands still. */
const FIRST: ReadonlySet<string> = new Set(['F05', 'F16', 'F32', 'F33', 'F42', 'F46', 'F47']);

/** Rules with another remedy for the cost of a rule. */
const INSTEAD_OF: Readonly<Record<string, string>> = {
  F01: 'F07',
  F07: 'F01',
  F14: 'F01',
  F02: 'F45',
  F45: 'F02',
};

/** Of INSTEAD_OF, those whose remedy includes the other one. */
const SAME_REMEDY: ReadonlySet<string> = new Set(['F14']);

/** `alternative to F01`, `F01 already saves most of this`; '' if it is neither */
export const insteadText = ({ rule, insteadOf }: Pick<Action, 'rule' | 'insteadOf'>): string =>
  insteadOf === null
    ? ''
    : SAME_REMEDY.has(rule)
      ? `${insteadOf} already saves most of this`
      : `alternative to ${insteadOf}`;

/** In the order of `findings`, by the first of each rule, except for FIRST. */
export const actionsOf = (findings: readonly Finding[]): Action[] => {
  const byRule = new Map<string, Finding[]>();
  for (const finding of findings)
    byRule.set(finding.rule, [...(byRule.get(finding.rule) ?? []), finding]);
  const rules = [...byRule.keys()];
  return [
    ...rules.filter((rule) => FIRST.has(rule)),
    ...rules.filter((rule) => !FIRST.has(rule)),
  ].map((rule, i, ranked): Action => {
    const other = INSTEAD_OF[rule] ?? '';
    const insteadOf = ranked.slice(0, i).includes(other) ? other : null;
    return { rule, findings: byRule.get(rule)!, insteadOf };
  });
};

/**
 * Time in SQL after the saving of a finding, microseconds; null if one of the two isn't known, or
 * if it saves other time.
 */
export const timeAfter = (
  nowUs: number | null,
  { savingUs, savesOutsideSql }: Pick<Finding, 'savingUs' | 'savesOutsideSql'>,
): number | null =>
  nowUs === null || savingUs === null || savesOutsideSql ? null : Math.max(0, nowUs - savingUs);

/** `880 ms → 495 ms`; `8.76 s, saves 2.1 ms` if both have the same text */
export function changeText(nowUs: number, afterUs: number): string {
  const now = formatDuration(nowUs);
  const after = formatDuration(afterUs);
  return now === after ? `${now}, saves ${formatDuration(nowUs - afterUs)}` : `${now} → ${after}`;
}
