/** The passes of a run: how many, what each does, and the result of all. Who makes them takes those of all runs in turn. */
import { resultOf } from './model/aggregate.ts';
import type { Run } from './model/types.ts';
import type { Environment } from './model/environment-types.ts';
import type { RunResult, Sample } from './model/result-types.ts';
import { workloadOf } from './workloads/index.ts';

/** Passes of a run: a timed one has a first that is not counted, for what is compiled and cached by it. */
export const passesOf = ({ mode, repeats }: Run): number =>
  mode === 'time' ? repeats + 1 : repeats;
/** One of them, from 0. Of a timed run, the one that is not counted reads back what is stored: once is enough, and the others are the faster. */
export const passOf = (run: Run, pass: number): Run =>
  run.mode === 'time' && pass > 0 ? { ...run, readBack: false } : run;
/** The result of all passes, in their order. */
export function resultOfPasses(
  run: Run,
  passes: readonly Sample[],
  environment: Environment,
): RunResult {
  const [warmUp, counted] = run.mode === 'time' ? [passes[0]!, passes.slice(1)] : [null, passes];
  return resultOf(run, workloadOf(run.workload, run.sql), counted, environment, warmUp);
}

/** The result of the passes of an interrupted run; null where none of them counts. */
export function resultSoFar(
  run: Run,
  passes: readonly Sample[],
  environment: Environment,
): RunResult | null {
  const all = passesOf(run);
  const counted = run.mode === 'time' ? passes.length - 1 : passes.length;
  if (counted < 1) return null;
  const result = resultOfPasses(run, passes, environment);
  if (passes.length === all) return result;
  return {
    ...result,
    notes: [...result.notes, `Interrupted after ${passes.length} of ${all} passes.`],
  };
}
