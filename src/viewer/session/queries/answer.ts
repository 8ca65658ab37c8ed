/** Queries of the Answer: its first sentences, and what cost most. */
import { headline } from '../../../analysis/answer/headline.ts';
import { worst } from '../../../analysis/answer/worst.ts';
import { answerOf } from './context.ts';

export const answerQueries = {
  headline: answerOf(headline),
  worst: answerOf(worst),
};
