/**
 * `vfscope lab list` and `vfscope lab run <experiment|workload>`: in a real browser by the Lab's own page, or with --node in Node on an
 * in-memory VFS. Exit code 1 when an expectation does not hold.
 */
import { runOf } from '../experiments/plan.ts';
import { runExperiment } from '../experiments/run-experiment.ts';
import type { LabOutcome } from '../experiments/outcome.ts';
import { takesText } from '../experiments/duration.ts';
import { hindrance, measure, measureEach, type Surroundings } from '../experiments/run.ts';
import { ALL_EXPERIMENTS } from '../experiments/documents/tries.ts';
import { WORKLOADS } from '../experiments/workloads/index.ts';
import { browserFailed, CommandFailure, wrongUse } from '../../terminal/failure.ts';
import { inBrowser } from './browser.ts';
import { nodeSurroundings } from './node.ts';
import { orderOf, type LabOptions, type LabOrder } from './order.ts';
import { exitOf, gridOf, outcomeJson, outcomeText, sideBySide } from './outcome.ts';
import { checkReportFiles, writeReportFiles } from './report-files.ts';
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
  complain(`${order.title}: ${takesText(order.runs)}`);
  const outcome = o.node
    ? await inNode(order)
    : await inBrowser(order, browserOf(o.browser), o.headed);
  await writeReportFiles(o.files ?? {}, outcome);
  await print(o.json ? outcomeJson(outcome) : outcomeText(outcome));
  if ((o.statements || o.functions) && !o.json && 'runs' in outcome)
    await print(detailText(outcome.runs, o.functions));
  return exitOf(outcome);
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

/** The order in these surroundings. @throws CommandFailure when it cannot run there */
async function carryOut(
  { what, asked, grid, compared, options }: LabOrder,
  around: Surroundings,
): Promise<LabOutcome> {
  if ('experiment' in what)
    return { experiment: await runExperiment(what.experiment, asked, options, around) };
  const { workload } = what;
  if (grid) {
    const runs = grid.map((each) => runOf(workload, each, options));
    const why = runs.map((run) => hindrance(run, around));
    const possible = runs.filter((_, i) => why[i] === null);
    const done = await measureEach(possible, around);
    const outcomes = runs.map((run, i) => why[i] ?? done[possible.indexOf(run)]!);
    return { grid: gridOf(workload.id, runs, outcomes) };
  }
  const runs = [asked, ...(compared ? [compared] : [])].map((each) =>
    runOf(workload, each, options),
  );
  for (const run of runs) {
    const why = hindrance(run, around);
    if (why) throw new CommandFailure(2, `${run.workload} cannot run here: ${why}.`);
  }
  return { runs: sideBySide(await measure(runs, around)) };
}

function browserOf(name: string): 'chromium' | 'firefox' {
  if (name === 'chromium' || name === 'firefox') return name;
  throw wrongUse(`--browser ${name}: expected chromium or firefox.`);
}

async function inNode(order: LabOrder): Promise<LabOutcome> {
  const around = nodeSurroundings((run, repeat) =>
    complain(
      `${run.workload} (${run.config.vfs}, ${run.config.build})${repeat < 0 ? ' warms up' : run.repeats > 1 ? ` ${repeat + 1} of ${run.repeats}` : ''}`,
    ),
  );
  try {
    return await carryOut(order, around);
  } catch (e) {
    // what SQLite or a run says is for the user; a fault of ours keeps its stack
    if (!(e instanceof Error) || (e.name !== 'Error' && e.name !== 'SQLiteError')) throw e;
    throw browserFailed(
      `${'experiment' in order.what ? order.what.experiment.id : order.what.workload.id} failed: ${e.message}`,
    );
  }
}
