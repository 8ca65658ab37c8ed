/**
 * Two traces on one scale. A is the trace that the other views show, B the one opened for
 * comparison.
 */
import { sqliteThreads } from '../../../analysis/core/main-threads.ts';
import { sqlRangeOf, stackOf } from './time-strips.ts';
import type { Facts } from '../../../analysis/core/graph.ts';
import { pieces } from '../../../analysis/time/thread-times.ts';
import { timesInSql } from '../../../analysis/time/summary-time.ts';
import { findings } from '../../../analysis/findings/index.ts';
import { diffOf } from '../../../analysis/report/diff.ts';
import { headlineNumbers } from '../../../analysis/numbers/headline-numbers.ts';
import { recordedTexts } from '../../../analysis/core/recorded-texts.ts';
import { executionGroups } from '../../../analysis/statements/statement-runs.ts';
import { needing, type QueryContext } from './context.ts';
import type {
  CompareArgs,
  Side,
  Comparison,
  Strip,
  Strips,
} from '../../../protocol/answers/compare.ts';
/** Columns of a strip. */
const MOST_COLUMNS = 8192;

export const compareQueries = {
  /**
   * Both traces over time. `other` identifies B, so that a new B is requested again. `oneScale`:
   * columns of both are equally long. `swapped`: the shown trace is B. null without a second trace.
   */
  compareStrips: needing(
    [pieces],
    (
      { facts, compared }: QueryContext,
      { width, oneScale, swapped = false }: CompareArgs & { width: number; oneScale: boolean },
    ): Strips | null => {
      const { other } = compared;
      if (!other) return null;
      const sides = sidesOf(facts, other.facts, swapped).map((one) => ({
        of: one,
        range: sqlRangeOf(one),
      }));
      const longest = Math.max(...sides.map(({ range }) => range.toUs - range.fromUs));
      const [a, b] = sides.map(({ of: one, range: { fromUs, toUs } }): Strip => {
        const end = oneScale ? fromUs + longest : toUs;
        const columns = Math.min(MOST_COLUMNS, Math.max(1, Math.round(width)));
        return {
          spanUs: toUs - fromUs,
          stacks:
            end > fromUs
              ? one.get(sqliteThreads).map((thread) => stackOf(thread, one, fromUs, end, columns))
              : [],
        };
      }) as [Strip, Strip];
      return { a, b };
    },
  ),

  /** What this trace can be compared with, and what it is compared with. */
  compareSources(
    { compared }: QueryContext,
    _args: object,
  ): { other: string | null; previous: string | null } {
    return { other: compared.other?.name ?? null, previous: compared.previous?.name ?? null };
  },

  /** null without a second trace. @param swapped the shown trace is B */
  comparison: needing(
    [headlineNumbers, timesInSql, findings, executionGroups, recordedTexts],
    (
      { facts, compared, memo }: QueryContext,
      { swapped = false }: Partial<CompareArgs>,
    ): Comparison | null => {
      const { other } = compared;
      if (!other) return null;
      return memo(`comparison ${swapped}`, () => {
        const [a, b] = sidesOf(facts, other.facts, swapped);
        const numbersB = b.get(headlineNumbers);
        return {
          a: sideOf(a),
          b: sideOf(b),
          numbers: a.get(headlineNumbers).map((number, i) => ({ a: number, b: numbersB[i]! })),
          diff: diffOf(a, b),
        };
      });
    },
  ),
};

/** A and B. */
const sidesOf = (shown: Facts, other: Facts, swapped: boolean): [Facts, Facts] =>
  swapped ? [other, shown] : [shown, other];
const sideOf = (facts: Facts): Side => ({
  events: facts.store.eventCount,
  times: facts.get(timesInSql),
});
