/**
 * The growth curves of results: over every swept number, for every counter that their workloads
 * watch.
 */
import { sweepAxes, sweepOf } from './model/sweep.ts';
import type { Growth, RunResult } from './model/result-types.ts';
import { workloadOf } from './workloads/index.ts';

/**
 * @returns by axis, then by counter; empty where no number has three values, or a counter isn't
 * known or always 0
 */
export function growthOf(results: readonly RunResult[]): Growth[] {
  const counters = [
    ...new Set(results.flatMap(({ run }) => ['ms', ...workloadOf(run.workload, run.sql).watch])),
  ];
  return sweepAxes(results).flatMap((axis) =>
    counters.flatMap((counter) => {
      const { curves } = sweepOf(results, axis, 'total', counter);
      return curves.length ? [{ over: axis.key, counter, curves }] : [];
    }),
  );
}
