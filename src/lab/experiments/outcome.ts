/**
 * The outcome of one order to the Lab, in each of its kinds, and its runs by name. Saved files
 * contain one of these.
 */
import { plain } from '../../text/clean.ts';
import { WORKLOADS, workloadOf } from './workloads/index.ts';
import { experimentFor } from './documents/tries.ts';
import { isExperimentResult, isGridResult, isRunResult } from './saved-result.ts';
import { offersVfs, onVfs, type PlacedExperiment } from './on-vfs.ts';
import type { NamedResult } from './model/environment.ts';
import { headings } from './model/knobs.ts';
import { DEFAULT_CONFIG, type Experiment } from './model/types.ts';
import type { ExperimentResult, GridResult, RunResult } from './model/result-types.ts';

/** An experiment; one run, or two side by side; every combination of several values. */
export type LabOutcome =
  | { readonly experiment: ExperimentResult }
  | { readonly runs: readonly RunResult[] }
  | { readonly grid: GridResult };

/** The experiment that ran, from its result. */
export const placedAgain = (
  experiment: Experiment,
  { on }: Pick<ExperimentResult, 'on'>,
): PlacedExperiment => {
  // results without VFSs were saved before VFSs could be chosen: they ran in memory
  const asked = on ?? (offersVfs(experiment) ? [DEFAULT_CONFIG.vfs] : []);
  return onVfs(experiment, asked, 'node');
};

/** Every run by a short name: the variant, a number, `A` or `B`. */
export function runsByName(outcome: LabOutcome): NamedResult[] {
  if ('experiment' in outcome)
    return Object.entries(outcome.experiment.results).map(([name, result]) => ({ name, result }));
  if ('grid' in outcome)
    return outcome.grid.runs.map((result, i) => ({ name: String(i + 1), result }));
  return outcome.runs.map((result, i) => ({ name: 'AB'[i]!, result }));
}

/** Every run by a descriptive name. */
export function runsByHeading(outcome: LabOutcome): NamedResult[] {
  if ('experiment' in outcome) return runsByName(outcome);
  const runs = 'grid' in outcome ? outcome.grid.runs : outcome.runs;
  const names = headings(runs.map(({ run }) => run));
  return runs.map((result, i) => ({ name: names[i]!, result }));
}

/** The title of the outcome, without its VFS. */
export function titleOf(outcome: LabOutcome): string {
  if ('experiment' in outcome)
    return experimentFor(outcome.experiment.experiment)?.title ?? outcome.experiment.experiment;
  const [first] = 'grid' in outcome ? outcome.grid.runs : outcome.runs;
  return first ? workloadOf(first.run.workload, first.run.sql).title : '';
}

/**
 * A file's content as an outcome. The file isn't trusted: its form is checked, and only known words
 * are used.
 * @param name of the file, for messages
 * @throws Error with a message for the user
 */
export function savedOutcome(text: string, name: string): LabOutcome {
  let saved: unknown;
  try {
    saved = JSON.parse(text);
  } catch (e) {
    throw new Error(`${name} isn't JSON: ${plain((e as Error).message)}.`, { cause: e });
  }
  const outcome: LabOutcome | null = isExperimentResult(saved)
    ? { experiment: saved }
    : isGridResult(saved)
      ? { grid: saved }
      : Array.isArray(saved) && saved.length > 0 && saved.length <= 2 && saved.every(isRunResult)
        ? { runs: saved }
        : null;
  if (!outcome)
    throw new Error(
      `${name} isn't the result of a run: expected what \`vfscope lab run --json\` prints, or a run that the Lab's page saved.`,
    );
  for (const { result } of runsByName(outcome)) known(result, name);
  if ('experiment' in outcome && !experimentFor(outcome.experiment.experiment))
    throw new Error(
      `${name} is of the experiment "${outcome.experiment.experiment}", which this vfscope does not have.`,
    );
  return outcome;
}

/** This version can't judge results of other workload versions. */
function known({ run, version }: RunResult, name: string): void {
  const own = WORKLOADS.some(({ id }) => id === run.workload)
    ? workloadOf(run.workload, run.sql).version
    : null;
  if (own === version) return;
  const has = own === null ? 'does not have it' : `has version ${own}`;
  throw new Error(
    `${name} is of version ${version} of the workload "${run.workload}"; this vfscope ${has}. Run it again.`,
  );
}
