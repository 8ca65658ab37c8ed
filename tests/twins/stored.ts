/** tests/oracle/twins.json: the outcome of the pairs' last recording. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Outcome } from './measure.ts';

const FILE = 'tests/oracle/twins.json';

export const storedOutcomes = (): Record<string, Outcome> =>
  (JSON.parse(readFileSync(FILE, 'utf8')) as { outcomes: Record<string, Outcome> }).outcomes;

/** @param outcome of a rule's pair */
export function storeOutcome(rule: string, outcome: Outcome): void {
  const stored = JSON.parse(readFileSync(FILE, 'utf8')) as { outcomes: Record<string, Outcome> };
  const outcomes = Object.entries({ ...stored.outcomes, [rule]: outcome }).sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  writeFileSync(
    FILE,
    `${JSON.stringify({ ...stored, outcomes: Object.fromEntries(outcomes) }, null, 1)}\n`,
  );
}
