/** Where else on the timeline the statement of an event runs. */
import { executions } from '../../../analysis/core/executions.ts';
import { ownersOf } from '../../../trace/owners.ts';
import { objectName } from '../../../trace/describe.ts';
import { firstPlace } from '../../../trace/number-columns.ts';
import { fingerprint } from '../../../sqlite/sql-text.ts';
import type { MarksArgs, StatementMarks } from '../../../protocol/answers/statement-marks.ts';
import { needing, type QueryContext } from './context.ts';

/** Begins and ends of a statement's executions on one thread, microseconds, in order. */
interface Times {
  thread: number;
  begins: Float64Array;
  ends: Float64Array;
}

function timesOf(context: QueryContext, print: string): Times[] {
  const all = context.facts.get(executions);
  return context.store.threads.flatMap((thread) => {
    const { count, text, firstRow, us } = all.of(thread);
    const same = new Map<number, boolean>();
    const places: number[] = [];
    for (let i = 0; i < count; i++) {
      const id = text[i]!;
      let wanted = same.get(id);
      if (wanted === undefined)
        same.set(id, (wanted = fingerprint(objectName(thread, id)) === print));
      if (wanted) places.push(i);
    }
    if (!places.length) return [];
    const { t0 } = thread.events;
    const begins = Float64Array.from(places, (i) => t0[firstRow[i]!]!);
    const ends = Float64Array.from(places, (i, k) => begins[k]! + us[i]!);
    return [{ thread: thread.index, begins, ends }];
  });
}

/** Disjoint [from, to] pairs, microseconds; what lies closer than a step is one. */
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
      to = Math.max(to + step, ends[i]!); // a step further each time: as many turns as columns
    }
    found.push(from, Math.min(to, Math.max(ends[i - 1] ?? to, from)));
  }
  return Float64Array.from(found);
}

export const statementMarkQueries = {
  /** The runs of an event's statement in a range, joined by pixel columns; null where it serves none. */
  statementMarks: needing(
    [executions],
    (context: QueryContext, args: MarksArgs): StatementMarks | null => {
      const thread = context.store.threads[args.thread];
      const row = thread?.events.rowOfSeq(args.seq) ?? -1;
      const call = row < 0 ? -1 : ownersOf(thread!).statement(row);
      const text = call < 0 ? '' : objectName(thread!, thread!.events.object[call]!);
      if (!text) return null;
      const print = fingerprint(text);
      const times = context.memo(`statement marks ${print}`, () => timesOf(context, print));
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
