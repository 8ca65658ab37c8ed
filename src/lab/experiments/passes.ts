/**
 * The passes of a run: how many, what each does, and their combined result. The caller runs those
 * of all runs in turn.
 */
import { resultOf } from './model/aggregate.ts';
import type { Run } from './model/types.ts';
import type { Environment } from './model/environment-types.ts';
import type { RunResult, Sample } from './model/result-types.ts';
import { workloadOf } from './workloads/index.ts';

/** Passes of a run. The first pass of a timed run doesn't count: it fills caches and compiles. */
export const passesOf = ({ mode, repeats }: Run): number =>
  mode === 'time' ? repeats + 1 : repeats;
/**
 * One pass, from 0. In a timed run, the pass that doesn't count reads back what is stored. Once is
 * enough, and the others are faster without.
 */
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

/** The result of an interrupted run's passes; null where none of them counts. */
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
