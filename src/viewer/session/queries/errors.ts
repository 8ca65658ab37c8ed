/** Query of the Errors view: what failed, by what it answered, with the statement behind. */
import { failedCalls } from '../../../analysis/errors/failed-calls.ts';
import { answerOf } from './context.ts';

export const errorQueries = { errors: answerOf(failedCalls) };
