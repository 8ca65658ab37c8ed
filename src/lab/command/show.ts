/**
 * `vfscope lab show RESULT.json`: prints a result saved by `lab run --json` or the Lab's page,
 * optionally without some passes, each with a written reason. The file isn't trusted: its form is
 * checked, and only known words are used.
 */
import { decideAll } from '../experiments/model/aggregate.ts';
import { gridResult } from '../experiments/grid-result.ts';
import { headings } from '../experiments/model/knobs.ts';
import { leaveOut } from '../experiments/leave-out.ts';
import { experimentResult } from '../experiments/run-experiment.ts';
import { experimentFor } from '../experiments/documents/tries.ts';
import type { LeftOut, RunResult } from '../experiments/model/result-types.ts';
import { workloadOf } from '../experiments/workloads/index.ts';
import { wrongUse } from '../../terminal/failure.ts';
import { placedAgain, runsByName, type LabOutcome } from '../experiments/outcome.ts';
import { readOutcome } from './diff.ts';
import { exitOf, outcomeJson, outcomeText, sideBySide } from './outcome.ts';
import { checkReportFiles, makersOf, writeReportFiles, type ReportFiles } from './report-files.ts';
import { print } from '../../terminal/stdout.ts';

interface ShowOptions {
  readonly file: string;
  /** `PASS=REASON`, or `RUN:PASS=REASON` where there are several. */
  readonly leaveOut: readonly string[];
  readonly json: boolean;
  /** Reports to write. */
  readonly files?: ReportFiles;
}

/**
 * @returns the exit code
 * @throws CommandFailure (2) with what is wrong with the file or the words
 */
export async function showCommand({
  file,
  leaveOut: words,
  json,
  files = {},
}: ShowOptions): Promise<number> {
  await checkReportFiles(files);
  const outcome = withoutPasses(await readOutcome(file), words);
  await writeReportFiles(files, makersOf(outcome));
  await print(json ? outcomeJson(outcome) : outcomeText(outcome));
  return exitOf(outcome);
}

const WORD = /^(?:([^=:]+):)?(\d+)=(.+)$/s;

/** @throws CommandFailure (2) with a message */
function withoutPasses(outcome: LabOutcome, words: readonly string[]): LabOutcome {
  const named = runsByName(outcome);
  const out = new Map<string, LeftOut[]>();
  for (const word of words) {
    const [, name = named.length === 1 ? named[0]!.name : '', pass, reason] = WORD.exec(word) ?? [];
    if (reason === undefined)
      throw wrongUse(`--leave-out "${word}": expected PASS=REASON, as in 3="a backup ran".`);
    if (!named.some((each) => each.name === name))
      throw wrongUse(
        `--leave-out "${word}": say of which run, as in ${named[0]?.name}:${word}; there are ${named.map((each) => each.name).join(', ')}.`,
      );
    out.set(name, [...(out.get(name) ?? []), { pass: Number(pass), reason }]);
  }
  let results: Map<string, RunResult>;
  try {
    results = new Map(named.map(({ name, result }) => [name, decided(result, out.get(name))]));
  } catch (e) {
    throw wrongUse(`--leave-out: ${(e as Error).message}`);
  }
  if ('experiment' in outcome) {
    const { experiment, skipped } = outcome.experiment;
    const ran = placedAgain(experimentFor(experiment)!, outcome.experiment);
    return { experiment: experimentResult(ran, results, skipped) };
  }
  const runs = [...results.values()];
  if (!('grid' in outcome)) return { runs: sideBySide(runs) };
  const names = headings(runs.map(({ run }) => run));
  const ran = runs.map((result, i) => ({ name: names[i]!, result }));
  const not = Object.entries(outcome.grid.skipped).map(([name, result]) => ({ name, result }));
  return { grid: gridResult(outcome.grid.workload, [...ran, ...not]) };
}

/** Passes that were left out before stay out. Verdicts come from the run itself. */
function decided(result: RunResult, more: readonly LeftOut[] = []): RunResult {
  if (more.length) return leaveOut(result, [...result.leftOut, ...more]);
  const { verdicts: _, ...rest } = result;
  return decideAll(rest, workloadOf(result.run.workload, result.run.sql));
}
