/** Query of the Errors view: failures by their error, with the statement that caused each. */
import { failedCalls, failedCallsIn } from '../../../analysis/errors/failed-calls.ts';
import type { Scope } from '../../../analysis/core/scope.ts';
import { needing, type QueryContext } from './context.ts';

export const errorQueries = {
  errors: needing([failedCalls], ({ facts, memo }: QueryContext, scope: Omit<Scope, 'part'>) =>
    memo(`errors ${JSON.stringify(scope)}`, () => failedCallsIn(facts, scope)),
  ),
};
