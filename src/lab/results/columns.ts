/** Which counters are worth a column. */
import { ALWAYS_SHOWN, isTime } from '../experiments/model/aggregate.ts';
import type { Counters, Experiment, Workload } from '../experiments/model/types.ts';
import type { RunResult } from '../experiments/model/result-types.ts';
import { workloadOf } from '../experiments/workloads/index.ts';

/**
 * The workload's watched counters that were counted, and those of storage and memory that moved.
 */
export function countersShown(workload: Workload, all: readonly Counters[]): string[] {
  const watched = workload.watch.filter(
    (name) => !isTime(name) && all.some((counters) => counters[name] !== undefined),
  );
  const below = all.flatMap((counters) =>
    Object.keys(counters).filter((name) => ALWAYS_SHOWN.test(name) && counters[name]),
  );
  return [...new Set([...watched, ...below.sort()])];
}

/** Counters in an experiment's claims. */
export function countersOfExperiment(
  experiment: Experiment,
  results: readonly RunResult[],
): string[] {
  // no particular value is expected of the actors' effects on each other, but they are interesting
  const watched = results.flatMap(({ run }) => {
    const { actors, watch } = workloadOf(run.workload, run.sql);
    return actors
      ? watch.filter((name) => results.some(({ totals }) => totals[name] !== undefined))
      : [];
  });
  const expected = experiment.expectations.flatMap((e) => [
    e.left.counter,
    ...(typeof e.right === 'number' ? [] : [e.right.counter]),
  ]);
  return [...new Set([...expected, ...watched])].filter((counter) => !isTime(counter));
}
