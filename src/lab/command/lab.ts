/**
 * `vfscope lab list` and `vfscope lab run <experiment|workload>`: in a real browser in the Lab's
 * page, or with --node in Node on an in-memory VFS. Exit code 1 when an expectation doesn't hold.
 */
import { runOf } from '../experiments/plan.ts';
import { runExperiment } from '../experiments/run-experiment.ts';
import type { LabOutcome } from '../experiments/outcome.ts';
import { takesText } from '../experiments/duration.ts';
import { isOutside } from '../experiments/model/engine-names.ts';
import type { Run } from '../experiments/model/types.ts';
import type { RunResult } from '../experiments/model/result-types.ts';
import { hindrance, impossible, measureEach, type Surroundings } from '../experiments/run.ts';
import { ALL_EXPERIMENTS } from '../experiments/documents/tries.ts';
import { WORKLOADS } from '../experiments/workloads/index.ts';
import { browserFailed, CommandFailure, wrongUse } from '../../terminal/failure.ts';
import { listenForInterrupt, type Interrupt } from '../../drive/interrupt.ts';
import { inBrowser, TAB_CLOSED } from './browser.ts';
import { outsideEngines } from './engines/outside.ts';
import { measureBesideNative } from './native.ts';
import { nodeSurroundings } from './node.ts';
import { orderOf, type LabOptions, type LabOrder } from './order.ts';
import { exitOf, experimentOf, gridOf, outcomeJson, outcomeText, sideBySide } from './outcome.ts';
import { checkReportFiles, makersOf, writeReportFiles } from './report-files.ts';
import { detailText } from './tables.ts';
import { listText } from './text.ts';
import { complain, Exit } from '../../terminal/open-file.ts';
import { print } from '../../terminal/stdout.ts';

/** @returns the exit code */
export async function labCommand(o: LabOptions): Promise<number> {
  if (o.verb === 'list') {
    await print(
      o.json ? `${JSON.stringify(listed(), null, 2)}\n` : listText(ALL_EXPERIMENTS, WORKLOADS),
    );
    return Exit.done;
  }
  const order = await orderOf(o);
  await checkReportFiles(o.files ?? {});
  const browser = browserOf(o.browser);
  const interrupt = listenForInterrupt(complain);
  let closed = false;
  const onClosed = (): void => {
    closed = true;
    complain(TAB_CLOSED);
  };
  if (!order.node) announce(order, impossible);
  const outcome = await (
    order.node
      ? inNode(order, o.cache, interrupt)
      : inBrowser(order, browser, o.headed, interrupt.first, onClosed)
  ).finally(() => interrupt.ignore());
  await writeReportFiles(o.files ?? {}, makersOf(outcome));
  await print(o.json ? outcomeJson(outcome) : outcomeText(outcome));
  if ((o.statements || o.functions) && !o.json && 'runs' in outcome)
    await print(detailText(outcome.runs, o.functions));
  if (!interrupt.came && !closed) return exitOf(outcome);
  complain('interrupted: the result has the passes that were done.');
  return Exit.browserFailed;
}

/**
 * Prints what runs and how long it takes, or nothing if none of it can run.
 * @param why a run can't be made
 */
function announce({ title, runs, what, grid }: LabOrder, why: (run: Run) => string | null): void {
  const possible = runs.filter((run) => why(run) === null);
  // of an experiment and a grid, the others go on
  const starts =
    grid || 'experiment' in what ? possible.length > 0 : possible.length === runs.length;
  if (starts) complain(`${title}: ${takesText(possible)}`);
}

const listed = (): object => ({
  experiments: ALL_EXPERIMENTS.map(({ id, title, document, question, claims, mode, variants }) => ({
    id,
    title,
    document,
    question,
    claims,
    mode,
    variants: variants.map((v) => v.id),
  })),
  workloads: WORKLOADS.map(({ id, version, title, question, claims, parameters, watch }) => ({
    id,
    version,
    title,
    question,
    claims,
    parameters,
    watch,
  })),
});

/** The order in this environment. @throws CommandFailure when it can't run there */
async function carryOut(
  { what, asked, grid, compared, options, native }: LabOrder,
  around: Surroundings,
): Promise<LabOutcome> {
  if ('experiment' in what)
    return experimentOf(await runExperiment(what.experiment, asked, options, around));
  const { workload } = what;
  if (grid) {
    const runs = grid.map((each) => runOf(workload, each, options));
    const why = runs.map((run) => hindrance(run, around));
    const possible = runs.filter((_, i) => why[i] === null);
    const done = await measured(possible, around, native);
    const outcomes = runs.map((run, i) => why[i] ?? done[possible.indexOf(run)]!);
    return { grid: gridOf(workload.id, runs, outcomes) };
  }
  const runs = [asked, ...(compared ? [compared] : [])].map((each) =>
    runOf(workload, each, options),
  );
  for (const run of runs) {
    const why = hindrance(run, around);
    const where = isOutside(run.config.engine) ? `on ${run.config.engine}` : 'here';
    if (why) throw new CommandFailure(2, `${run.workload} cannot run ${where}: ${why}.`);
  }
  const done = await measured(runs, around, native);
  return {
    runs: sideBySide(
      done.map((result) => {
        if (result instanceof Error) throw result;
        return result;
      }),
    ),
  };
}

const measured = (
  runs: readonly Run[],
  around: Surroundings,
  native: boolean,
): Promise<(RunResult | Error)[]> =>
  native ? measureBesideNative(runs, around) : measureEach(runs, around);

function browserOf(name: string): 'chromium' | 'firefox' {
  if (name === 'chromium' || name === 'firefox') return name;
  throw wrongUse(`--browser ${name}: expected chromium or firefox.`);
}

const placeText = ({ config: { engine, vfs, build } }: Run): string =>
  isOutside(engine) ? `${engine}, ${build}` : engine === 'native' ? engine : `${vfs}, ${build}`;

async function inNode(
  order: LabOrder,
  cache: string | undefined,
  interrupt: Interrupt,
): Promise<LabOutcome> {
  const outside = outsideEngines(cache);
  await outside.prepare(order.runs.map(({ config }) => config));
  const around = nodeSurroundings(
    (run, repeat) =>
      complain(
        `${run.workload} (${placeText(run)})${repeat < 0 ? ' warms up' : run.repeats > 1 ? ` ${repeat + 1} of ${run.repeats}` : ''}`,
      ),
    outside,
    () => interrupt.heard(),
  );
  announce(order, (run) => hindrance(run, around));
  try {
    return await carryOut(order, around);
  } catch (e) {
    // errors of SQLite or a run are for the user; our own bugs keep their stack
    if (!(e instanceof Error) || (e.name !== 'Error' && e.name !== 'SQLiteError')) throw e;
    throw browserFailed(
      `${'experiment' in order.what ? order.what.experiment.id : order.what.workload.id} failed: ${e.message}`,
    );
  }
}
