/** Two traces on one scale. A is the trace that is shown everywhere else, B the one that was opened beside it. */
import { diffOf, type TraceDiff } from '../../../trace/analysis/diff.ts';
import { headlineNumbers, type HeadlineNumber } from '../../../trace/analysis/headline-numbers.ts';
import { PARTS, type PartTimes } from '../../../trace/analysis/time-parts.ts';
import type { Analyses } from '../../../trace/analysis/shared.ts';
import { sharedSummary } from '../../../trace/analysis/summary.ts';
import type { QueryContext } from './context.ts';
import { partitionsOf } from './overview.ts';

export interface Side {
  events: number;
  /** With SQL in flight, summed over the threads that run SQLite; null where none does. */
  times: PartTimes | null;
}
export interface Comparison {
  /** What B is called. */
  name: string;
  a: Side;
  b: Side;
  numbers: { a: HeadlineNumber; b: HeadlineNumber }[];
  diff: TraceDiff;
  /** Coarsest step of the clocks of each, microseconds; null = not known. */
  stepUs: { a: number | null; b: number | null };
}

export const compareQueries = {
  /** What this trace can be, and is, compared with. */
  compareSources({ compared }: QueryContext, _args: object): { other: string | null; previous: string | null } {
    return { other: compared.other?.name ?? null, previous: compared.previous?.name ?? null };
  },

  /** null without a second trace. */
  comparison({ store, shared, compared, memo }: QueryContext, _args: object): Comparison | null {
    const { other } = compared;
    if (!other) return null;
    return memo('comparison', () => {
      const [sharedB, storeB] = [other.shared, other.store];
      const a = headlineNumbers(store, shared, sharedSummary(shared));
      const b = headlineNumbers(storeB, sharedB, sharedSummary(sharedB));
      return {
        name: other.name,
        a: sideOf(shared),
        b: sideOf(sharedB),
        numbers: a.map((number, i) => ({ a: number, b: b[i]! })),
        diff: diffOf(store, storeB, shared, sharedB),
        stepUs: { a: sharedSummary(shared).environment.clockStepUs, b: sharedSummary(sharedB).environment.clockStepUs },
      };
    });
  },
};

function sideOf(shared: Analyses): Side {
  const threads = partitionsOf(shared).filter(({ sqlite }) => sqlite);
  const times = Object.fromEntries(
    PARTS.map((part) => [`${part}Us`, threads.reduce((sum, { partition }) => sum + partition[`${part}Us`], 0)]),
  ) as PartTimes;
  times.tracerUs -= threads.reduce((sum, { partition }) => sum + partition.tracerOutsideUs, 0);
  return { events: shared.store.eventCount, times: threads.length ? times : null };
}
