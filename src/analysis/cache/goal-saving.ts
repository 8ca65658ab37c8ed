/**
 * The time that a larger page cache would save: the reads that would become hits, at the usual cost
 * of the database's reads, and never more than the repeated reads took. Finding F11 uses the same
 * numbers.
 */
import { Op } from '../../event/event.ts';
import { fact } from '../core/graph.ts';
import { findingContext, type FindingContext } from '../rules/context.ts';
import { Saving, tellable } from '../rules/saving.ts';
import { missRatios, type CacheGoal, type MissRatio } from './miss-ratio.ts';

export interface GoalSaving {
  /** Microseconds; null = not known, see `how`. */
  us: number | null;
  /** How it is computed, or why it isn't known. */
  how: string;
}

/** For a cache that reaches the goal. */
export const savingOf = (
  ctx: FindingContext,
  { goal, again }: Pick<MissRatio, 'again'> & { goal: CacheGoal },
): Saving =>
  new Saving(ctx)
    .avoid(goal.avoided, Op.xRead, 'reads', 'main-db')
    .atMost(again.us, Math.min(1, goal.avoided / again.count));

/** By index in `missRatios`; null if no larger cache avoids a read. */
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

/**
 * What caches of other sizes save. Each read that they avoid costs as much as one that the goal
 * avoids.
 * @param avoided reads
 * @returns microseconds; null = not known
 */
export const savingsAt = (
  goal: CacheGoal,
  { us }: GoalSaving,
  avoided: Float64Array,
): Float64Array | null =>
  us === null || goal.avoided === 0 ? null : avoided.map((reads) => (us * reads) / goal.avoided);
