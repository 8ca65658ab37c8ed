/** Queries of the Answer: its first sentences, the time in SQL over time, and what cost most. */
import { actionsOf } from '../../../analysis/answer/actions.ts';
import { headline, headlineIn, type Headline } from '../../../analysis/answer/headline.ts';
import { worst, worstIn } from '../../../analysis/answer/worst.ts';
import type { Scope } from '../../../analysis/core/scope.ts';
import { failedCalls } from '../../../analysis/errors/failed-calls.ts';
import { findings } from '../../../analysis/findings/index.ts';
import { statementTable } from '../../../analysis/statements/statement-table.ts';
import { pieces } from '../../../analysis/time/thread-times.ts';
import type { BusyStrip, TabCounts, TimeStrip } from '../../../protocol/answers/answer.ts';
import type { QueryArgs } from '../../../protocol/answers/queries.ts';
import { answerOf, needing, type QueryContext } from './context.ts';
import { statementsOf } from './statements.ts';
import { busyStrip, longPauses, MOST_COLUMNS, stackOf } from './time-strips.ts';

export const answerQueries = {
  headline: answerOf(headline),
  /** Of a part of the recording. The whole is computed first because it needs less. */
  narrowedHeadline: needing(
    [headline, statementTable],
    (context: QueryContext, scope: Omit<Scope, 'part'>): Headline =>
      headlineIn(context.facts, scope, statementsOf(context, scope)),
  ),
  worst: needing([worst], (context: QueryContext, scope: Scope) =>
    context.memo(`worst ${JSON.stringify(scope)}`, () =>
      worstIn(context.facts, scope, statementsOf(context, scope)),
    ),
  ),
  tabCounts: needing(
    [findings, failedCalls],
    ({ facts }: QueryContext, _args: object): TabCounts => ({
      actions: actionsOf(facts.get(findings)).map(({ rule }) => rule),
      errors: facts.get(failedCalls).events,
    }),
  ),
  longPauses: needing([pieces], ({ facts }: QueryContext, _args: object) => longPauses(facts)),
  busyStrip: needing(
    [pieces],
    ({ facts, memo }: QueryContext, { width, fold }: { width: number; fold: number }): BusyStrip =>
      // answers transfer typed arrays, so return a copy each time
      structuredClone(memo(`busy ${width} ${fold}`, () => busyStrip(facts, width, fold))),
  ),
  timeStrip: needing(
    [pieces],
    ({ store, facts }: QueryContext, args: QueryArgs<'timeStrip'>): TimeStrip | null => {
      const { thread, fromUs, toUs, columns } = args;
      const own = store.threads[thread];
      return own ? stackOf(own, facts, fromUs, toUs, Math.min(MOST_COLUMNS, columns)) : null;
    },
  ),
};
