/**
 * The topic of a rule, independent of what it found. Field reports have no sentences, and a trace's
 * sentences have that trace's numbers.
 */
import { RULES } from '../analysis/findings/index.ts';

const TITLES = new Map(RULES.map(({ id, title }) => [id, title]));

/** @returns null for a rule of another version of vfscope */
export const ruleTitle = (rule: string): string | null => TITLES.get(rule) ?? null;
