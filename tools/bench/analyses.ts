// All analyses of a trace as steps, one after another. As in the panel's worker, the first step
// that needs a shared fact computes it.
import { allFacts, Facts } from '../../src/analysis/index.ts';
import type { TraceStore } from '../../src/trace/store.ts';

export interface Step {
  name: string;
  work(): unknown;
}

/** One round over a store. Run in this order, because each fact follows those that it needs. */
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

/**
 * The cost of memory access alone: reads every number of the columns that most analyses use, once
 * and in order.
 */
function sumOf({ threads }: TraceStore): number {
  let sum = 0;
  for (const { events } of threads) {
    const { count, op, object, endSeq, t0, dur, parent, offset, length, aux } = events;
    for (const column of [op, object, endSeq, t0, dur, parent, offset, length, aux])
      sum += added(column, count);
  }
  return sum;
}

/** @param count number of used rows */
function added(column: ArrayLike<number>, count: number): number {
  let sum = 0;
  for (let row = 0; row < count; row++) sum += column[row]!;
  return sum;
}
