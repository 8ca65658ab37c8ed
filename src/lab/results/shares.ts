/**
 * The shares of begin, work, and commit in a transaction: by instructions or by time, whichever was
 * measured.
 */
import type { RunResult } from '../experiments/model/result-types.ts';

const PARTS = ['begin', 'body', 'commit'] as const;
interface StepShares {
  readonly step: string;
  /** 0 to 1; they sum to 1. */
  readonly parts: readonly (readonly [part: (typeof PARTS)[number], share: number])[];
}

/** One for each step that is made of transactions. */
export function sharesOf(result: RunResult): StepShares[] {
  return result.steps.flatMap((s) => {
    const of = (part: string): number | undefined =>
      result.run.mode === 'count'
        ? s.counters[`${part}.instructions`]
        : s.parts[`${part}.ms`]?.median;
    // older results leave out parts that are 0
    const parts = PARTS.map((part) => [part, of(part) ?? 0] as const);
    const sum = parts.reduce((a, [, n]) => a + n, 0);
    return sum === 0 ? [] : [{ step: s.id, parts: parts.map(([p, n]) => [p, n / sum] as const) }];
  });
}
