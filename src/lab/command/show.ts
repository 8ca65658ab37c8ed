/**
 * `vfscope lab show RESULT.json`: what `lab run --json` or the Lab's page saved, as text again, with passes left out for a written reason.
 * The file is not trusted: its form is checked, and only words that are known run.
 */
import { readFile } from 'node:fs/promises';
import { decideAll } from '../experiments/model/aggregate.ts';
import { gridResult } from '../experiments/grid-result.ts';
import { headings } from '../experiments/model/knobs.ts';
import { leaveOut } from '../experiments/leave-out.ts';
import { experimentResult } from '../experiments/run-experiment.ts';
import { isExperimentResult, isGridResult, isRunResult } from '../experiments/saved-result.ts';
import { experimentFor } from '../experiments/documents/tries.ts';
import type { LeftOut, RunResult } from '../experiments/model/result-types.ts';
import { WORKLOADS, workloadOf } from '../experiments/workloads/index.ts';
import { wrongUse } from '../../terminal/failure.ts';
import { exitOf, outcomeJson, outcomeText, sideBySide, type LabOutcome } from './outcome.ts';
import { cannotRead } from '../../terminal/open-file.ts';
import { print } from '../../terminal/stdout.ts';

interface ShowOptions {
  readonly file: string;
  /** `PASS=REASON`, or `RUN:PASS=REASON` where there are several. */
  readonly leaveOut: readonly string[];
  readonly json: boolean;
}

/** @returns the exit code @throws CommandFailure (2) naming what is wrong with the file or the words */
export async function showCommand({ file, leaveOut: words, json }: ShowOptions): Promise<number> {
  const outcome = withoutPasses(await savedOutcome(file), words);
  await print(json ? outcomeJson(outcome) : outcomeText(outcome));
  return exitOf(outcome);
}

async function savedOutcome(path: string): Promise<LabOutcome> {
  const text = await readFile(path, 'utf8').catch((e: unknown) => {
    throw wrongUse(cannotRead(path, e, 'a result of the Lab'));
  });
  let saved: unknown;
  try {
    saved = JSON.parse(text);
  } catch (e) {
    throw wrongUse(`${path} is no JSON: ${(e as Error).message}.`);
  }
  const outcome: LabOutcome | null = isExperimentResult(saved)
    ? { experiment: saved }
    : isGridResult(saved)
      ? { grid: saved }
      : Array.isArray(saved) && saved.length > 0 && saved.length <= 2 && saved.every(isRunResult)
        ? { runs: saved }
        : null;
  if (!outcome)
    throw wrongUse(
      `${path} is no result of the Lab: expected what \`vfscope lab run --json\` or the Lab's page saved.`,
    );
  for (const [, result] of namedRuns(outcome)) known(result, path);
  if ('experiment' in outcome && !experimentFor(outcome.experiment.experiment))
    throw wrongUse(
      `${path} is of the experiment "${outcome.experiment.experiment}", which this vfscope does not have.`,
    );
  return outcome;
}

/** Results of other versions are not to be judged by this one's. */
function known({ run, version }: RunResult, path: string): void {
  const own = WORKLOADS.some(({ id }) => id === run.workload)
    ? workloadOf(run.workload, run.sql).version
    : null;
  if (own === version) return;
  const has = own === null ? 'does not have it' : `has version ${own}`;
  throw wrongUse(
    `${path} is of version ${version} of the workload "${run.workload}"; this vfscope ${has}. Run it again.`,
  );
}

/** Every run by the name that `--leave-out` has for it. */
function namedRuns(outcome: LabOutcome): [string, RunResult][] {
  if ('experiment' in outcome) return Object.entries(outcome.experiment.results);
  if ('grid' in outcome) return outcome.grid.runs.map((result, i) => [String(i + 1), result]);
  return outcome.runs.map((result, i) => ['AB'[i]!, result]);
}

const WORD = /^(?:([^=:]+):)?(\d+)=(.+)$/s;

/** @throws CommandFailure (2) with a message */
function withoutPasses(outcome: LabOutcome, words: readonly string[]): LabOutcome {
  if (words.length === 0) return outcome;
  const named = namedRuns(outcome);
  const out = new Map<string, LeftOut[]>();
  for (const word of words) {
    const [, name = named.length === 1 ? named[0]![0] : '', pass, reason] = WORD.exec(word) ?? [];
    if (reason === undefined)
      throw wrongUse(`--leave-out "${word}": expected PASS=REASON, as in 3="a backup ran".`);
    if (!named.some(([each]) => each === name))
      throw wrongUse(
        `--leave-out "${word}": say of which run, as in ${named[0]?.[0]}:${word}; there are ${named.map(([n]) => n).join(', ')}.`,
      );
    out.set(name, [...(out.get(name) ?? []), { pass: Number(pass), reason }]);
  }
  let results: Map<string, RunResult>;
  try {
    results = new Map(named.map(([name, result]) => [name, decided(result, out.get(name))]));
  } catch (e) {
    throw wrongUse(`--leave-out: ${(e as Error).message}`);
  }
  if ('experiment' in outcome) {
    const { experiment, skipped } = outcome.experiment;
    return { experiment: experimentResult(experimentFor(experiment)!, results, skipped) };
  }
  const runs = [...results.values()];
  if (!('grid' in outcome)) return { runs: sideBySide(runs) };
  const names = headings(runs.map(({ run }) => run));
  const ran = runs.map((result, i) => ({ name: names[i]!, result }));
  const not = Object.entries(outcome.grid.skipped).map(([name, result]) => ({ name, result }));
  return { grid: gridResult(outcome.grid.workload, [...ran, ...not]) };
}

/** What was left out before stays out; verdicts are the run's own. */
function decided(result: RunResult, more: readonly LeftOut[] = []): RunResult {
  if (more.length) return leaveOut(result, [...result.leftOut, ...more]);
  const { verdicts: _, ...rest } = result;
  return decideAll(rest, workloadOf(result.run.workload, result.run.sql));
}
