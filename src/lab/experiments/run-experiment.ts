/**
 * Runs an experiment: interleaves the variants that can run here, and reports those that can't,
 * with the outcome of every expectation.
 */
import { placed } from './model/aggregate.ts';
import { decide, undecided } from './model/assertions.ts';
import { endedWhy, faultVerdict } from './model/fault-verdict.ts';
import { growthOf } from './growth.ts';
import { runsOf, type Asked, type RunOptions } from './plan.ts';
import { hindrance, measureEach, type Surroundings } from './run.ts';
import { storedVerdicts } from './storage-verdicts.ts';
import type { PlacedExperiment } from './on-vfs.ts';
import type { Assertion, Place, Run } from './model/types.ts';
import type { ExperimentResult, RunResult } from './model/result-types.ts';

/** A failed variant is listed with its error among those that didn't run. The others continue. */
export async function runExperiment(
  experiment: PlacedExperiment,
  asked: Partial<Asked>,
  options: RunOptions,
  around: Surroundings,
): Promise<ExperimentResult> {
  const skipped: Record<string, string> = {};
  const ids: string[] = [];
  const runs: Run[] = [];
  for (const [id, run] of runsOf(experiment, asked, options)) {
    const why = hindrance(run, around);
    if (why) skipped[id] = why;
    else {
      ids.push(id);
      runs.push(run);
    }
  }
  const results = new Map<string, RunResult>();
  (await measureEach(runs, around)).forEach((done, i) => {
    if (done instanceof Error) skipped[ids[i]!] = done.message;
    else results.set(ids[i]!, done);
  });
  return experimentResult(experiment, results, skipped);
}

/**
 * The experiment's expectations, applied to results from any source, and whether all variants that
 * should store the same did.
 */
export function experimentResult(
  experiment: PlacedExperiment,
  results: ReadonlyMap<string, RunResult>,
  skipped: Readonly<Record<string, string>>,
): ExperimentResult {
  const verdicts = experiment.expectations.map((expectation) => {
    const why = placesOf(expectation)
      .flatMap(({ variant }) => results.get(variant ?? '') ?? [])
      .map(endedWhy)
      .find(Boolean);
    if (why) return undecided(expectation, why);
    return decide(expectation, (place) => {
      const result = place.variant === undefined ? undefined : results.get(place.variant);
      return result && placed(result, place);
    });
  });
  const faults = [...results].flatMap(([name, result]) => {
    const fault = faultVerdict(result);
    return fault ? [{ ...fault, text: `${name}: ${fault.text}` }] : [];
  });
  const stored = storedVerdicts([...results].map(([name, result]) => ({ name, result })));
  return {
    experiment: experiment.id,
    results: Object.fromEntries(results),
    skipped,
    verdicts: [...faults, ...verdicts, ...stored],
    growth: growthOf([...results.values()]),
    on: experiment.on,
  };
}

const placesOf = ({ left, right }: Assertion): Place[] =>
  typeof right === 'number' ? [left] : [left, right];
