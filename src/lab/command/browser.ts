/** Runs an order to the Lab in the Lab's page in a real browser. */
import { runOf, runsOf } from '../experiments/plan.ts';
import { experimentResult } from '../experiments/run-experiment.ts';
import type { Run } from '../experiments/model/types.ts';
import type { RunResult } from '../experiments/model/result-types.ts';
import { browserFailed } from '../../terminal/failure.ts';
import { runLabInFirefox } from '../drive/firefox-lab.ts';
import { runLab } from '../drive/lab.ts';
import type { LabOrder } from './order.ts';
import type { LabOutcome } from '../experiments/outcome.ts';
import { experimentOf, gridOf, sideBySide } from './outcome.ts';
import { complain } from '../../terminal/open-file.ts';
import { EXTENSION, FIREFOX_EXTENSION } from '../../drive/extension-folders.ts';

/** The beginning of the command's report in this case. */
export const TAB_CLOSED = "the Lab's tab closed or crashed.";
/** For a run that was interrupted before it had a pass that counts. */
const NOT_DONE = 'interrupted before a pass was done';

/**
 * @param onClosed called when the tab closed before everything was done; the result then has the
 * finished passes
 * @throws CommandFailure (3) without a browser or a build, or when a single run fails; the result
 * has an experiment's failed variants
 */
export async function inBrowser(
  { what, asked, grid, compared, options }: LabOrder,
  browser: 'chromium' | 'firefox',
  headed: boolean,
  interrupt: Promise<void>,
  onClosed: () => void,
): Promise<LabOutcome> {
  const onProgress = (done: number, all: number): void => complain(`${done} of ${all} passes`);
  const carryOut = async (
    runs: readonly Run[],
  ): Promise<{ result: RunResult | null; message: string }[]> => {
    const done =
      browser === 'firefox'
        ? await runLabInFirefox(runs, {
            extension: FIREFOX_EXTENSION,
            headed,
            onProgress,
            interrupt,
            onClosed,
          })
        : await runLab(runs, { extension: EXTENSION, headed, onProgress, interrupt, onClosed });
    for (const { left } of done) if (left.length) complain(`left in storage: ${left.join(', ')}`);
    return done;
  };
  if ('experiment' in what) {
    const runs = [...runsOf(what.experiment, asked, options)];
    const done = await carryOut(runs.map(([, run]) => run));
    const results = new Map<string, RunResult>();
    const skipped: Record<string, string> = {};
    runs.forEach(([id], i) => {
      const { result, message } = done[i]!;
      if (result) results.set(id, result);
      else skipped[id] = message || NOT_DONE;
    });
    return experimentOf(experimentResult(what.experiment, results, skipped));
  }
  if (grid) {
    const runs = grid.map((each) => runOf(what.workload, each, options));
    const done = await carryOut(runs);
    const results = done.map(({ result, message }) => result ?? (message || NOT_DONE));
    return { grid: gridOf(what.workload.id, runs, results) };
  }
  const done = await carryOut(
    [asked, ...(compared ? [compared] : [])].map((each) => runOf(what.workload, each, options)),
  );
  const results = done.map(({ result, message }) => {
    if (!result) throw browserFailed(`${what.workload.id} failed: ${message || NOT_DONE}`);
    return result;
  });
  return { runs: sideBySide(results) };
}
