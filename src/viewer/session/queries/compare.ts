/** Two traces on one scale. A is the trace that is shown everywhere else, B the one that was opened beside it. */
import { sqliteThreads } from '../../../analysis/core/main-threads.ts';
import type { Facts } from '../../../analysis/core/graph.ts';
import { pieces } from '../../../analysis/time/thread-times.ts';
import { timesInSql } from '../../../analysis/time/summary-time.ts';
import { findings } from '../../../analysis/findings/index.ts';
import { diffOf } from '../../../analysis/report/diff.ts';
import { headlineNumbers } from '../../../analysis/report/headline-numbers.ts';
import { PART } from '../../../analysis/core/time-parts.ts';
import { executionGroups } from '../../../analysis/statements/statement-runs.ts';
import type { ThreadStore } from '../../../trace/store.ts';
import { TimeLane } from '../../../timeline/time-lane.ts';
import { needing, type QueryContext } from './context.ts';
import type { Side, Comparison, Strip, Strips } from '../../../protocol/answers/compare.ts';
/** Columns of a strip. */
const MOST_COLUMNS = 8192;

export const compareQueries = {
  /** Both traces over time; `other` names B, so that another one is asked for again; with `oneScale` a column is equally long in both. null without a second trace. */
  compareStrips: needing(
    [pieces],
    (
      { facts, compared }: QueryContext,
      { width, oneScale }: { other: string; width: number; oneScale: boolean },
    ): Strips | null => {
      const { other } = compared;
      if (!other) return null;
      const sides = [facts, other.facts].map((one) => ({ of: one, range: sqlRangeOf(one) }));
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

  /** What this trace can be, and is, compared with. */
  compareSources(
    { compared }: QueryContext,
    _args: object,
  ): { other: string | null; previous: string | null } {
    return { other: compared.other?.name ?? null, previous: compared.previous?.name ?? null };
  },

  /** null without a second trace. */
  comparison: needing(
    [headlineNumbers, timesInSql, findings, executionGroups],
    ({ facts, compared, memo }: QueryContext, _args: object): Comparison | null => {
      const { other } = compared;
      if (!other) return null;
      return memo('comparison', () => {
        const [a, b] = [facts, other.facts];
        const numbersB = b.get(headlineNumbers);
        return {
          name: other.name,
          a: sideOf(a),
          b: sideOf(b),
          numbers: a.get(headlineNumbers).map((number, i) => ({ a: number, b: numbersB[i]! })),
          diff: diffOf(a, b),
        };
      });
    },
  ),
};

function stackOf(
  thread: ThreadStore,
  facts: Facts,
  fromUs: number,
  toUs: number,
  columns: number,
): Uint8Array {
  const lane = new TimeLane(thread);
  lane.settle(facts.get(pieces));
  return lane.columns([], fromUs, toUs, columns).stack;
}

/** From the first moment while SQL runs to the last, over all threads; 0 to 0 where there is none. */
function sqlRangeOf(facts: Facts): { fromUs: number; toUs: number } {
  let [from, to] = [Infinity, -Infinity];
  for (const thread of facts.get(sqliteThreads)) {
    const { index } = facts.get(pieces).of(thread);
    let [first, last] = [0, index.count - 1];
    // the recording's own set-up lies before the first statement, at a distance that says nothing
    while (first <= last && index.kind[first] === PART.tracer) first++;
    while (first <= last && index.kind[last] === PART.tracer) last--;
    if (first > last) continue;
    from = Math.min(from, index.startOf(first));
    to = Math.max(to, index.endOf(last));
  }
  return to > from ? { fromUs: from / 1000, toUs: to / 1000 } : { fromUs: 0, toUs: 0 };
}

const sideOf = (facts: Facts): Side => ({
  events: facts.store.eventCount,
  times: facts.get(timesInSql),
});
