/**
 * What a larger page cache would save in time: the reads that would become hits, at what reads of databases took, and never more than the
 * reads took that were made again. Finding F11 shows the same number.
 */
import { Op } from '../../event/event.ts';
import { fact } from '../core/graph.ts';
import { findingContext } from '../rules/context.ts';
import { Saving } from '../rules/saving.ts';
import { missRatios } from './miss-ratio.ts';
import { formatDuration } from '../../text/numbers.ts';

export interface GoalSaving {
  /** Microseconds; null = not known, see `how`. */
  us: number | null;
  /** How it is computed, or why it is not known. */
  how: string;
}

/** By place in `missRatios`; null where no larger cache avoids a read. */
export const goalSavings = fact(
  'goalSavings',
  'time that a larger cache saves',
  { findingContext, missRatios },
  (_, { findingContext: ctx, missRatios: curves }): (GoalSaving | null)[] =>
    curves.map(({ goal, again }): GoalSaving | null => {
      if (!goal) return null;
      const { savingUs: us, savingHow: how } = new Saving(ctx)
        .avoid(goal.avoided, Op.xRead, 'reads', 'main-db')
        .atMost(again.us, Math.min(1, goal.avoided / again.count))
        .result();
      const step = ctx.clockStepUs ?? 0;
      if (us === null || (us > 0 && us >= step)) return { us, how };
      return {
        us: null,
        how: `less than the clock shows${step ? `, whose step is ${formatDuration(step)}` : ''}`,
      };
    }),
);
