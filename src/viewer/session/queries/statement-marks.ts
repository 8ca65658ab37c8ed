/** Where statements run on the timeline: the statement of an event, or those of a filter. */
import { executions } from '../../../analysis/core/executions.ts';
import {
  statementsIn,
  testOfTexts,
  type StatementTest,
} from '../../../analysis/statements/statements-in-scope.ts';
import { ownersOf } from '../../../trace/owners.ts';
import { objectName } from '../../../trace/describe.ts';
import { firstPlace } from '../../../trace/number-columns.ts';
import { fingerprint } from '../../../sqlite/sql-text.ts';
import type { MarksArgs, StatementMarks } from '../../../protocol/answers/statement-marks.ts';
import { needing, type QueryContext } from './context.ts';

/** Start and end times of statements' executions on one thread, microseconds, in order. */
interface Times {
  thread: number;
  begins: Float64Array;
  ends: Float64Array;
}

/** Which statements to mark, and a name for them; null if the event belongs to none. */
function askedBy(
  { store, facts }: QueryContext,
  args: MarksArgs,
): { name: string; test: StatementTest } | null {
  if (!('seq' in args)) {
    const { statement, table } = args;
    const test = statementsIn(facts, args);
    return test && { name: JSON.stringify({ statement, table }), test };
  }
  const thread = store.threads[args.thread];
  const row = thread?.events.rowOfSeq(args.seq) ?? -1;
  const call = row < 0 ? -1 : ownersOf(thread!).statement(row);
  const text = call < 0 ? '' : objectName(thread!, thread!.events.object[call]!);
  if (!text) return null;
  const statement = fingerprint(text);
  return { name: JSON.stringify({ statement }), test: (print) => print === statement };
}

function timesOf(context: QueryContext, test: StatementTest): Times[] {
  const all = context.facts.get(executions);
  return context.store.threads.flatMap((thread) => {
    const { count, text, firstRow, us } = all.of(thread);
    const isAsked = testOfTexts(thread, test)!;
    const places: number[] = [];
    for (let i = 0; i < count; i++) if (isAsked(text[i]!)) places.push(i);
    if (!places.length) return [];
    const { t0 } = thread.events;
    const begins = Float64Array.from(places, (i) => t0[firstRow[i]!]!);
    const ends = Float64Array.from(places, (i, k) => begins[k]! + us[i]!);
    return [{ thread: thread.index, begins, ends }];
  });
}

/** Disjoint [from, to] pairs, microseconds; gaps shorter than a step are closed. */
export function joined(
  { begins, ends }: Pick<Times, 'begins' | 'ends'>,
  fromUs: number,
  toUs: number,
  step: number,
): Float64Array {
  const found: number[] = [];
  const n = begins.length;
  let i = Math.max(0, firstPlace(0, n, (k) => begins[k]! >= fromUs) - 1);
  while (i < n && begins[i]! < toUs) {
    const from = begins[i]!;
    let to = ends[i]!;
    for (;;) {
      const next = firstPlace(i + 1, n, (k) => begins[k]! > to + step);
      if (next === i + 1 || to >= toUs) {
        i = next;
        break;
      }
      i = next - 1;
      // advances by a step each time, so at most as many iterations as columns
      to = Math.max(to + step, ends[i]!);
    }
    found.push(from, Math.min(to, Math.max(ends[i - 1] ?? to, from)));
  }
  return Float64Array.from(found);
}

export const statementMarkQueries = {
  /**
   * The runs of the statements in a range, joined by pixel column; null if there are no statements
   * to mark.
   */
  statementMarks: needing(
    [executions],
    (context: QueryContext, args: MarksArgs): StatementMarks | null => {
      const asked = askedBy(context, args);
      if (!asked) return null;
      const times = context.memo(`statement marks ${asked.name}`, () =>
        timesOf(context, asked.test),
      );
      const { fromUs, toUs, width } = args;
      return {
        executions: times.reduce((sum, { begins }) => sum + begins.length, 0),
        lanes: times.map((of) => ({
          lane: `${of.thread}:sql`,
          ranges: joined(of, fromUs, toUs, (toUs - fromUs) / Math.max(1, width)),
        })),
      };
    },
  ),
};
