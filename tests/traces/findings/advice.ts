// What each rule advises on the recordings of this repository: the golden traces first, then the
// traces next to this file. docs/findings.md shows it.
import { readFileSync } from 'node:fs';
import type { Finding } from '../../../src/analysis/rules/types.ts';
import { readTrace } from '../../../src/trace/file/read.ts';
import { findingsOf } from '../analyses.ts';
import { SCENARIOS } from '../golden/scenarios.ts';
import { FAILURES } from './failures.ts';
import { IDB } from './idb.ts';
import { QUERIES } from './queries.ts';
import { play } from './stage.ts';
import { STORAGE } from './storage.ts';
import { WAITS } from './waits.ts';

export type Advice = Pick<Finding, 'rule' | 'advice' | 'sql'>;

/** The advice without its numbers and names. */
const shapeOf = ({ advice }: Advice): string => advice.replace(/[-\d.,]+|"[^"]*"/g, '');

/** Different advice of each rule, or [] for a rule that only an engine's recording triggers. */
export async function storedAdvice(): Promise<Map<string, Advice[]>> {
  const byRule = new Map<string, Advice[]>();
  const add = (found: Advice): void => {
    const list = byRule.get(found.rule) ?? [];
    if (!list.some((other) => shapeOf(other) === shapeOf(found)))
      byRule.set(found.rule, [...list, found]);
  };
  for (const { name } of SCENARIOS) {
    const { store } = await readTrace(readFileSync(`tests/traces/golden/${name}.vfst`));
    findingsOf(store).forEach(add);
  }
  for (const { rule, wrong } of [...FAILURES, ...IDB, ...STORAGE, ...WAITS, ...QUERIES])
    findingsOf(play(wrong)).filter((found) => found.rule === rule).forEach(add);
  return byRule;
}
