/**
 * `vfscope lab list` and `vfscope lab run <experiment|workload>`: in a real browser by the Lab's own page, or with --node in Node on an
 * in-memory VFS. Exit code 1 when an expectation does not hold.
 */
import { readFile } from 'node:fs/promises';
import { readWords, runOf, runsOf, type Asked, type RunOptions } from '../experiments/plan.ts';
import { runExperiment } from '../experiments/run-experiment.ts';
import { hindrance, measure, type Surroundings } from '../experiments/run.ts';
import type { Experiment, ExperimentResult, RunResult, Workload } from '../experiments/types.ts';
import { storedVerdicts } from '../experiments/stored.ts';
import { ALL_EXPERIMENTS } from '../experiments/tries.ts';
import { WORKLOADS, workloadOf } from '../experiments/workloads/index.ts';
import { CommandFailure, wrongUse } from './drive/failure.ts';
import { inBrowser } from './lab-browser.ts';
import { databaseFrom } from './lab-database.ts';
import { nodeSurroundings } from './lab-node.ts';
import { detailText, functionsText } from './lab-detail-text.ts';
import { compareText, experimentText, listText, resultText } from './lab-text.ts';
import { cannotRead, complain, Exit } from './open-file.ts';
import { print } from './stdout.ts';

export interface LabOptions {
  /** `list` or `run`. */
  readonly verb: string;
  readonly what: string | undefined;
  readonly config: readonly string[];
  /** Settings of a second variant: the two side by side, with the exact difference. */
  readonly compare: readonly string[];
  readonly count: boolean;
  /** Of a counted workload: by statement and between VFS calls, too. */
  readonly statements: boolean;
  /** Of a counted workload: by function of the engine. */
  readonly functions: boolean;
  readonly node: boolean;
  readonly json: boolean;
  readonly repeats: number;
  /** Of the workload own-sql. */
  readonly sql: string | undefined;
  /** Of the workload own-database: its file. */
  readonly database: string | undefined;
  readonly headed: boolean;
  /** `chromium` or `firefox`. */
  readonly browser: string;
}

/** What is to be run, checked: the browser's driver and Node take the same. */
export interface LabOrder {
  readonly what: { readonly experiment: Experiment } | { readonly workload: Workload };
  readonly asked: Asked;
  /** null: nothing to compare with. */
  readonly compared: Asked | null;
  readonly options: RunOptions;
}
export type LabOutcome = { readonly experiment: ExperimentResult } | { readonly runs: readonly RunResult[] };

/** @returns the exit code */
export async function labCommand(o: LabOptions): Promise<number> {
  if (o.verb === 'list') {
    await print(o.json ? `${JSON.stringify(listed(), null, 2)}\n` : listText(ALL_EXPERIMENTS, WORKLOADS));
    return Exit.done;
  }
  if (o.verb !== 'run') throw wrongUse(`vfscope lab ${o.verb}: expected list, run or replay.`);
  const order = await orderOf(o);
  const outcome = compared(o.node ? await inNode(order) : await inBrowser(order, browserOf(o.browser), o.headed));
  if (o.json) await print(`${JSON.stringify('experiment' in outcome ? outcome.experiment : outcome.runs, null, 2)}\n`);
  else if ('experiment' in outcome && 'experiment' in order.what) await print(experimentText(order.what.experiment, outcome.experiment));
  else if ('runs' in outcome && 'workload' in order.what)
    await print(
      outcome.runs[1]
        ? compareText(order.what.workload, outcome.runs[0]!, outcome.runs[1])
        : resultText(order.what.workload, outcome.runs[0]!),
    );
  if (o.statements && !o.json && 'runs' in outcome) await print(detailText(outcome.runs));
  if (o.functions && !o.json && 'runs' in outcome) await print(functionsText(outcome.runs));
  const verdicts = 'experiment' in outcome ? outcome.experiment.verdicts : outcome.runs.flatMap((r) => r.verdicts);
  return verdicts.some((v) => v.holds === false) ? Exit.checkFailed : Exit.done;
}

/** Of two runs side by side, the second says whether it stored what the first did. */
function compared(outcome: LabOutcome): LabOutcome {
  if ('experiment' in outcome || outcome.runs.length < 2) return outcome;
  const [a, b] = outcome.runs as [RunResult, RunResult];
  const stored = storedVerdicts([
    { name: 'A', result: a },
    { name: 'B', result: b },
  ]);
  return { runs: [a, { ...b, verdicts: [...b.verdicts, ...stored] }] };
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

function namedWorkload(name: string, sql: string | undefined): Workload {
  if (WORKLOADS.some(({ id }) => id === name)) return workloadOf(name, sql);
  const known = [...ALL_EXPERIMENTS, ...WORKLOADS].map(({ id }) => id).join(', ');
  throw new Error(`there is no experiment or workload "${name}"; there are ${known}.`);
}

async function fileOf(path: string, what: string): Promise<Buffer<ArrayBuffer>> {
  return readFile(path).catch((e: unknown) => Promise.reject(new Error(cannotRead(path, e, what))));
}

/** @throws CommandFailure naming what is wrong */
async function orderOf(o: LabOptions): Promise<LabOrder> {
  if (o.what === undefined)
    throw wrongUse('vfscope lab run: the name of an experiment or a workload is missing; `vfscope lab list` names them.');
  try {
    const experiment = ALL_EXPERIMENTS.find((e) => e.id === o.what);
    const sql = o.sql === undefined ? undefined : (await fileOf(o.sql, 'a file of SQL')).toString('utf8');
    if (o.what === 'own-sql' && sql === undefined) throw new Error('own-sql needs --sql FILE.');
    if (o.what === 'own-database' && (sql === undefined || o.database === undefined))
      throw new Error('own-database needs --file DATABASE and --sql FILE.');
    if (o.what !== 'own-database' && o.database !== undefined) throw new Error('--file DATABASE is for own-database.');
    const database = o.database === undefined ? undefined : await databaseFrom(o.database);
    const asked = readWords(o.config);
    const changed = readWords(o.compare);
    const compared = o.compare.length
      ? { config: { ...asked.config, ...changed.config }, parameters: { ...asked.parameters, ...changed.parameters } }
      : null;
    if ((o.statements || o.functions) && (experiment || !o.count))
      throw new Error(`--${o.statements ? 'statements' : 'functions'} is for one workload with --count.`);
    if (o.statements && o.functions) throw new Error('--statements and --functions are two runs: ask for one of them.');
    if (experiment && compared) throw new Error('--compare is for one workload; an experiment has its variants.');
    const mode = o.count ? 'count' : (experiment?.mode ?? 'time');
    const options: RunOptions = {
      mode,
      repeats: o.repeats,
      ...(o.functions ? { functions: true } : {}),
      ...(sql === undefined ? {} : { sql }),
      ...(database === undefined ? {} : { database }),
    };
    const what = experiment ? { experiment } : { workload: namedWorkload(o.what, sql) };
    // every fault of the words is found before anything runs
    if (what.workload) for (const each of compared ? [asked, compared] : [asked]) runOf(what.workload, each, options);
    if (what.experiment) runsOf(what.experiment, asked, options);
    return { what, asked, compared, options };
  } catch (e) {
    throw wrongUse(e instanceof Error ? e.message : String(e));
  }
}

/** The order in these surroundings. @throws CommandFailure when it cannot run there */
export async function carryOut({ what, asked, compared, options }: LabOrder, around: Surroundings): Promise<LabOutcome> {
  if ('experiment' in what) return { experiment: await runExperiment(what.experiment, asked, options, around) };
  const { workload } = what;
  const runs = [asked, ...(compared ? [compared] : [])].map((each) => runOf(workload, each, options));
  for (const run of runs) {
    const why = hindrance(run, around);
    if (why) throw new CommandFailure(2, `${run.workload} cannot run here: ${why}.`);
  }
  return { runs: await measure(runs, around) };
}

function browserOf(name: string): 'chromium' | 'firefox' {
  if (name === 'chromium' || name === 'firefox') return name;
  throw wrongUse(`--browser ${name}: expected chromium or firefox.`);
}

const inNode = (order: LabOrder): Promise<LabOutcome> =>
  carryOut(
    order,
    nodeSurroundings((run, repeat) =>
      complain(
        `${run.workload} (${run.config.vfs}, ${run.config.build})${repeat < 0 ? ' warms up' : run.repeats > 1 ? ` ${repeat + 1} of ${run.repeats}` : ''}`,
      ),
    ),
  );
