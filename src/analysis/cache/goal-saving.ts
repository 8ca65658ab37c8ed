/**
 * What a larger page cache would save in time: the reads that would become hits, at what reads of databases took, and never more than the
 * reads took that were made again. Finding F11 is about the same.
 */
import { Op } from '../../event/event.ts';
import { fact } from '../core/graph.ts';
import { findingContext, type FindingContext } from '../rules/context.ts';
import { Saving, tellable } from '../rules/saving.ts';
import { missRatios, type CacheGoal, type MissRatio } from './miss-ratio.ts';

export interface GoalSaving {
  /** Microseconds; null = not known, see `how`. */
  us: number | null;
  /** How it is computed, or why it is not known. */
  how: string;
}

/** Of a cache that reaches the goal. */
export const savingOf = (
  ctx: FindingContext,
  { goal, again }: Pick<MissRatio, 'again'> & { goal: CacheGoal },
): Saving =>
  new Saving(ctx)
    .avoid(goal.avoided, Op.xRead, 'reads', 'main-db')
    .atMost(again.us, Math.min(1, goal.avoided / again.count));

/** By place in `missRatios`; null where no larger cache avoids a read. */
export const goalSavings = fact(
  'goalSavings',
  'time that a larger cache saves',
  { findingContext, missRatios },
  (_, { findingContext: ctx, missRatios: curves }): (GoalSaving | null)[] =>
    curves.map(({ goal, again }): GoalSaving | null => {
      if (!goal) return null;
      const saving = tellable(savingOf(ctx, { goal, again }).result(), ctx.clockStepUs);
      return { us: saving.savingUs, how: saving.savingHow };
    }),
);

/** What caches of other sizes save: each read that they avoid takes as long as one that the goal avoids. @param avoided reads @returns microseconds; null = not known */
export const savingsAt = (
  goal: CacheGoal,
  { us }: GoalSaving,
  avoided: Float64Array,
): Float64Array | null =>
  us === null || goal.avoided === 0 ? null : avoided.map((reads) => (us * reads) / goal.avoided);
