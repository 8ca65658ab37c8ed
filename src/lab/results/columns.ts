/** Which counters are worth a column. */
import { ALWAYS_SHOWN, isTime } from '../experiments/model/aggregate.ts';
import type { Counters, Experiment, Workload } from '../experiments/model/types.ts';
import type { RunResult } from '../experiments/model/result-types.ts';
import { workloadOf } from '../experiments/workloads/index.ts';

/** Those that the workload watches and that were counted at all, and those of the storage below and of memory that moved. */
export function countersShown(workload: Workload, all: readonly Counters[]): string[] {
  const watched = workload.watch.filter(
    (name) => !isTime(name) && all.some((counters) => counters[name] !== undefined),
  );
  const below = all.flatMap((counters) =>
    Object.keys(counters).filter((name) => ALWAYS_SHOWN.test(name) && counters[name]),
  );
  return [...new Set([...watched, ...below.sort()])];
}

/** Those that an experiment's claims are about. */
export function countersOfExperiment(
  experiment: Experiment,
  results: readonly RunResult[],
): string[] {
  // what actors did to one another is expected to be nothing in particular, and is what one looks for
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
