/** Query of the Errors view: what failed, by what it answered, with the statement behind. */
import { failedCalls, failedCallsIn } from '../../../analysis/errors/failed-calls.ts';
import type { Scope } from '../../../analysis/core/scope.ts';
import { needing, type QueryContext } from './context.ts';

export const errorQueries = {
  errors: needing([failedCalls], ({ facts, memo }: QueryContext, scope: Omit<Scope, 'part'>) =>
    memo(`errors ${JSON.stringify(scope)}`, () => failedCallsIn(facts, scope)),
  ),
};
