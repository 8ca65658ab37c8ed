/** The outcome of `vfscope lab run`: as text, as JSON, and as an exit code. */
import { gridResult } from '../experiments/grid-result.ts';
import { headings } from '../experiments/model/knobs.ts';
import { storedVerdicts } from '../experiments/storage-verdicts.ts';
import { experimentFor } from '../experiments/documents/tries.ts';
import { placedAgain, type LabOutcome } from '../experiments/outcome.ts';
import type { Run } from '../experiments/model/types.ts';
import type { ExperimentResult, GridResult, RunResult } from '../experiments/model/result-types.ts';
import { workloadOf } from '../experiments/workloads/index.ts';
import { countOf } from '../../text/numbers.ts';
import { browserFailed, wrongUse } from '../../terminal/failure.ts';
import { gridText } from './growth-text.ts';
import { compareText, experimentText, resultText } from './text.ts';
import { Exit } from '../../terminal/open-file.ts';

/** For two runs side by side, the second one shows whether both stored the same. */
export function sideBySide(runs: readonly RunResult[]): RunResult[] {
  const [a, b] = runs;
  if (!a || !b) return [...runs];
  const stored = storedVerdicts([
    { name: 'A', result: a },
    { name: 'B', result: b },
  ]);
  return [a, { ...b, verdicts: [...b.verdicts, ...stored] }];
}

/**
 * The combinations of a grid.
 * @param done the result of each, or why it has none
 * @throws CommandFailure (3) where none ran
 */
export function gridOf(
  workload: string,
  runs: readonly Run[],
  done: readonly (RunResult | Error | string)[],
): GridResult {
  const names = headings(runs);
  const grid = gridResult(
    workload,
    done.map((each, i) => ({
      name: names[i]!,
      result: each instanceof Error ? each.message : each,
    })),
  );
  if (grid.runs.length) return grid;
  throw browserFailed(
    `${workload} ran with none of ${runs.length} combinations: ${[...new Set(Object.values(grid.skipped))].join('; ')}`,
  );
}

/** An experiment with at least one result. @throws CommandFailure (3) where no variant ran */
export function experimentOf(result: ExperimentResult): LabOutcome {
  if (Object.keys(result.results).length) return { experiment: result };
  const why = Object.values(result.skipped);
  throw browserFailed(
    `${result.experiment} ran with none of its ${countOf(why.length, 'variant')}: ${[...new Set(why)].join('; ')}.`,
  );
}

/** In a stable order, with full numbers. */
export function outcomeText(outcome: LabOutcome): string {
  if ('experiment' in outcome) {
    const experiment = experimentFor(outcome.experiment.experiment);
    if (!experiment) throw wrongUse(`There is no experiment "${outcome.experiment.experiment}".`);
    return experimentText(placedAgain(experiment, outcome.experiment), outcome.experiment);
  }
  if ('grid' in outcome) return gridText(outcome.grid);
  const [a, b] = outcome.runs as [RunResult, RunResult?];
  const workload = workloadOf(a.run.workload, a.run.sql);
  return b ? compareText(workload, a, b) : resultText(workload, a);
}

/** An experiment's result, an array of one or two, or a grid's. */
export const outcomeJson = (outcome: LabOutcome): string =>
  `${JSON.stringify('experiment' in outcome ? outcome.experiment : 'grid' in outcome ? outcome.grid : outcome.runs, null, 2)}\n`;

/** 1 where an expectation doesn't hold. */
export function exitOf(outcome: LabOutcome): number {
  const verdicts =
    'experiment' in outcome
      ? outcome.experiment.verdicts
      : 'grid' in outcome
        ? [...outcome.grid.verdicts, ...outcome.grid.runs.flatMap((r) => r.verdicts)]
        : outcome.runs.flatMap((r) => r.verdicts);
  return verdicts.some((v) => v.holds === false) ? Exit.checkFailed : Exit.done;
}
