// All analyses of a trace as steps, one after another: what several need is computed once, by the first, as the panel's worker does.
import { allFacts, Facts } from '../../src/analysis/index.ts';
import type { TraceStore } from '../../src/trace/store.ts';

export interface Step {
  name: string;
  work(): unknown;
}

/** One round over a store. To be run in this order: each fact comes after those that it needs. */
export function stepsOf(store: TraceStore): Step[] {
  const facts = new Facts(store);
  return [
    { name: 'for comparison: the columns added up', work: () => sumOf(store) },
    ...allFacts().map((fact) => ({
      name: fact.name,
      work() {
        for (const _ of facts.compute([fact]));
      },
    })),
  ];
}

/** What memory alone costs: every number of the columns that most analyses read, once and in order. */
function sumOf({ threads }: TraceStore): number {
  let sum = 0;
  for (const { events } of threads) {
    const { count, op, object, endSeq, t0, dur, parent, offset, length, aux } = events;
    for (const column of [op, object, endSeq, t0, dur, parent, offset, length, aux])
      sum += added(column, count);
  }
  return sum;
}

/** @param count rows in use */
function added(column: ArrayLike<number>, count: number): number {
  let sum = 0;
  for (let row = 0; row < count; row++) sum += column[row]!;
  return sum;
}
