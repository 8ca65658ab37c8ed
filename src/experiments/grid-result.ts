/** The runs of a grid together: names by what they differ in, whether all stored the same, how counters grow. */
import { growthOf } from './growth.ts';
import { storedVerdicts } from './stored.ts';
import type { GridResult, RunResult } from './types.ts';

/** @param done each combination's name, and its result or why it has none */
export function gridResult(workload: string, done: readonly { readonly name: string; readonly result: RunResult | string }[]): GridResult {
  const ran = done.flatMap(({ name, result }) => (typeof result === 'string' ? [] : [{ name, result }]));
  const runs = ran.map(({ result }) => result);
  return {
    workload,
    runs,
    skipped: Object.fromEntries(done.flatMap(({ name, result }) => (typeof result === 'string' ? [[name, result]] : []))),
    verdicts: storedVerdicts(ran),
    growth: growthOf(runs),
  };
}
