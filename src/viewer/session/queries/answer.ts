/** Queries of the Answer: its first sentences, the time in SQL over time, and what cost most. */
import { headline } from '../../../analysis/answer/headline.ts';
import { worst } from '../../../analysis/answer/worst.ts';
import { pieces } from '../../../analysis/time/thread-times.ts';
import type { BusyStrip } from '../../../protocol/answers/answer.ts';
import { answerOf, needing, type QueryContext } from './context.ts';
import { busyStrip } from './time-strips.ts';

export const answerQueries = {
  headline: answerOf(headline),
  worst: answerOf(worst),
  busyStrip: needing(
    [pieces],
    ({ facts, memo }: QueryContext, { width, fold }: { width: number; fold: number }): BusyStrip =>
      // typed arrays are handed out: a copy each time
      structuredClone(memo(`busy ${width} ${fold}`, () => busyStrip(facts, width, fold))),
  ),
};
