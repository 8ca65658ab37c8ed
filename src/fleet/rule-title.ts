/** What a rule is about, whatever it found: a report of the field has no sentences, and those of traces have the numbers of one. */
import { RULES } from '../analysis/findings/index.ts';

const TITLES = new Map(RULES.map(({ id, title }) => [id, title]));

/** @returns null for a rule of another version */
export const ruleTitle = (rule: string): string | null => TITLES.get(rule) ?? null;
