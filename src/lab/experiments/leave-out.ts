/**
 * Leaves a pass out of a timed result, with a reason. It stays in the list of passes, but medians
 * and verdicts exclude it.
 */
import { decideAll, spreadOf } from './model/aggregate.ts';
import type { LeftOut, RunResult, Spread } from './model/result-types.ts';
import { workloadOf } from './workloads/index.ts';

const MOST_CHARACTERS = 300;

/**
 * @param leftOut all passes to leave out, replacing the previous ones
 * @returns another result
 * @throws Error with a message for the user: for counts, without a reason, for a pass that doesn't
 * exist, or if none would remain
 */
export function leaveOut(result: RunResult, leftOut: readonly LeftOut[]): RunResult {
  const n = result.totalMs?.passes.length;
  if (n === undefined)
    throw new Error('Only passes of a timed run can be left out: a count is the same in all.');
  const out = new Map<number, string>();
  for (const { pass, reason } of leftOut) {
    if (!Number.isInteger(pass) || pass < 1 || pass > n)
      throw new Error(`There is no pass ${pass}: there are 1 to ${n}.`);
    const words = reason.replace(/\s+/g, ' ').trim();
    if (!words) throw new Error(`Pass ${pass} needs a reason to be left out.`);
    out.set(pass, words.slice(0, MOST_CHARACTERS));
  }
  if (out.size >= n) throw new Error('At least one pass must stay.');
  const without = (spread: Spread): Spread => spreadOf(spread.passes, (i) => out.has(i + 1));
  const { verdicts: _, ...rest } = {
    ...result,
    leftOut: [...out].sort(([a], [b]) => a - b).map(([pass, reason]) => ({ pass, reason })),
    totalMs: result.totalMs && without(result.totalMs),
    steps: result.steps.map((step) => ({
      ...step,
      ms: step.ms && without(step.ms),
      parts: Object.fromEntries(
        Object.entries(step.parts).map(([name, spread]) => [name, without(spread)]),
      ),
    })),
  };
  return decideAll(rest, workloadOf(result.run.workload, result.run.sql));
}
