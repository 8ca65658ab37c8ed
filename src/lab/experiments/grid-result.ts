/**
 * Combines the runs of a grid: names by their differences, whether all stored the same, and how
 * counters grow.
 */
import { growthOf } from './growth.ts';
import { storedVerdicts } from './storage-verdicts.ts';
import type { GridResult, RunResult, Verdict } from './model/result-types.ts';

/** @param done each combination's name, and its result or why it has none */
export function gridResult(
  workload: string,
  done: readonly { readonly name: string; readonly result: RunResult | string }[],
): GridResult {
  const ran = done.flatMap(({ name, result }) =>
    typeof result === 'string' ? [] : [{ name, result }],
  );
  const runs = ran.map(({ result }) => result);
  return {
    workload,
    runs,
    skipped: Object.fromEntries(
      done.flatMap(({ name, result }) => (typeof result === 'string' ? [[name, result]] : [])),
    ),
    verdicts: storedVerdicts(ran),
    growth: growthOf(runs),
  };
}

/**
 * The workload's expectations of each result: stated once where all results agree, else for each by
 * name.
 */
export function verdictsOfEach(
  runs: readonly { readonly name: string; readonly result: RunResult }[],
): Verdict[] {
  if (runs.length === 1) return [...runs[0]!.result.verdicts];
  const texts = [...new Set(runs.flatMap(({ result }) => result.verdicts.map(({ text }) => text)))];
  return texts.flatMap((text) => {
    const each = runs.flatMap(({ name, result }) =>
      result.verdicts
        .filter((v) => v.text === text)
        .map((v) => ({ ...v, text: `${name}: ${text}` })),
    );
    const [first] = each as [Verdict];
    const alike =
      each.length === runs.length &&
      each.every(({ holds, why }) => holds === first.holds && why === first.why);
    return alike
      ? [{ ...first, text: `${text} (all ${runs.length} runs)`, left: null, right: null }]
      : each;
  });
}
