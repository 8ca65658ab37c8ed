/**
 * From the choices on the page to runs: every combination of the chosen values, without those that
 * make no difference.
 */
import { isOutside } from '../experiments/model/engine-names.ts';
import { KNOBS, type Knob } from '../experiments/model/knobs.ts';
import { modeWith, type FaultSettings } from '../experiments/model/faults.ts';
import { runOf as planned } from '../experiments/plan.ts';
import {
  DEFAULT_CONFIG,
  type Config,
  type EngineBuild,
  type EngineFile,
  type Experiment,
  type Mode,
  type Parameters,
  type Run,
  type Workload,
} from '../experiments/model/types.ts';
import { buildFor, countPasses, isBuildFor } from '../experiments/worker/builds-here.ts';
import { isAvailable } from '../experiments/model/vfs-facts.ts';
import { workloadOf } from '../experiments/workloads/index.ts';
import type { AsRecorded } from '../as-recorded/as-recorded.ts';
import type { Change } from '../as-recorded/change.ts';

const BLOCK_KNOBS = ['blockSize', 'writePolicy', 'cacheBlocks', 'durability'] as const;

/** Chosen values by setting; none = the workload's own value. */
export type Choices = Readonly<Partial<Record<Knob['key'], readonly (string | number | null)[]>>>;

/** A parameter of a workload that the grid varies. */
interface ParameterKnob {
  readonly name: string;
  readonly what: string;
  /** The workload's value where nothing is chosen. */
  readonly own: number;
  readonly values: readonly number[];
}
/** Chosen values by parameter; none = the workload's own value. */
export type ParameterChoices = Readonly<Record<string, readonly number[]>>;

const STEPS = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000];
const FEW = [0, 1, 2, 3, 4];
const SMALL_STEPS = [0, 1, 2, 4, 8, 16];

/**
 * Its own value, its minimum and maximum, and powers of ten in between (powers of two where there
 * are few, all values where there are at most five).
 */
export const parameterKnobs = ({ parameters }: Workload): ParameterKnob[] =>
  Object.entries(parameters).map(([name, { default: own, least, most, what }]) => {
    const between = (most <= 4 ? FEW : most <= 16 ? SMALL_STEPS : STEPS).filter(
      (n) => n > least && n < most,
    );
    return {
      name,
      what,
      own,
      values: [...new Set([least, ...between, own, most])].sort((a, b) => a - b),
    };
  });

/**
 * Values of a setting that run where nothing is chosen; null = the default.
 * @param trial configurations of *Try it*, which take the place of the workload's own
 */
export function ownValues(
  workload: Workload | null,
  trial: readonly Config[] | null,
): (key: Knob['key']) => (string | number | null)[] {
  const { vfs, engine } = DEFAULT_CONFIG;
  const configs: readonly Partial<Config>[] = trial ?? [{ vfs, engine, ...workload?.config }];
  return (key) => [...new Set(configs.map((config) => config[key] ?? null))];
}

/** The user's files. */
export type OwnInput = Pick<Run, 'sql' | 'database'>;

/** A run on a user's build includes the build's file. */
export function withEngineFile(run: Run, files: readonly EngineFile[]): Run {
  const engineFile = files.find(({ name }) => name === run.config.engine);
  return engineFile ? { ...run, engineFile } : run;
}

/** Repeats of a run in time mode. */
export const TIME_REPEATS = 5;

/**
 * A complete configuration from a partial one: the build fits the VFS, and settings that it doesn't
 * support aren't set.
 */
export function completeConfig(part: Partial<Config>): Config {
  const config = { ...DEFAULT_CONFIG, ...part };
  const build =
    part.build && isBuildFor(part.build, config) ? part.build : buildFor(config.vfs, config.engine);
  return config.vfs === 'BlockIDB'
    ? { ...config, build }
    : { ...config, build, ...Object.fromEntries(BLOCK_KNOBS.map((key) => [key, null])) };
}

const vfsOfItsOwn = ({ config }: Workload): Partial<Config> => ({
  vfs: config.vfs ?? DEFAULT_CONFIG.vfs,
});

function runOf(
  workload: Workload,
  part: Partial<Config>,
  mode: Mode,
  parameters: Parameters = {},
  own: OwnInput = {},
): Run {
  // beside wa-sqlite on a VFS, another build runs on the same VFS
  const sameVfs = part.engine !== undefined && isOutside(part.engine) ? vfsOfItsOwn(workload) : {};
  const run = planned(
    workload,
    { config: { ...sameVfs, ...part }, parameters },
    { mode, repeats: TIME_REPEATS, ...own },
  );
  // the workload's own build belongs to its own VFS
  const given =
    part.build ??
    (part.vfs === undefined && part.engine === undefined ? run.config.build : undefined);
  const config = completeConfig({
    ...run.config,
    build: given ?? buildFor(run.config.vfs, run.config.engine),
  });
  return { ...run, config, repeats: mode === 'count' ? countPasses() : run.repeats };
}

/** Every valid combination of the choices, each once, ordered by setting, with parameters last. */
export function runsOfGrid(
  workload: Workload,
  choices: Choices,
  mode: Mode,
  own: OwnInput = {},
  parameterChoices: ParameterChoices = {},
): Run[] {
  let parts: Partial<Config>[] = [{}];
  let parameters: Parameters[] = [{}];
  for (const { name } of parameterKnobs(workload)) {
    const values = parameterChoices[name] ?? [];
    if (values.length)
      parameters = parameters.flatMap((part) =>
        values.map((value): Parameters => ({ ...part, [name]: value })),
      );
  }
  for (const { key } of KNOBS) {
    const values = choices[key] ?? [];
    if (values.length)
      parts = parts.flatMap((part) =>
        values.map((value): Partial<Config> => ({ ...part, [key]: value })),
      );
  }
  const runs = parts
    .flatMap((part) =>
      parameters.map((given) => ({ part, run: runOf(workload, part, mode, given, own) })),
    )
    // a chosen build isn't replaced by another
    .filter(
      ({ part, run: { config } }) =>
        isAvailable(config.vfs, config.engine) && config.build === (part.build ?? config.build),
    )
    .map(({ run }) => run);
  return [
    ...new Map(runs.map((run) => [JSON.stringify([run.config, run.parameters]), run])).values(),
  ];
}

/** A recording's own statements as recorded, and with a finding's advice. */
export function runsOfRecorded(
  own: NonNullable<AsRecorded['own']>,
  recorded: Partial<Config>,
  database: Run['database'],
): { run: Run; heading: string }[] {
  const ways: readonly Change[] = [
    { heading: 'as recorded', config: {}, grouped: false, setup: '' },
    ...own.changes,
  ];
  return ways.map(({ heading, config, grouped, setup }) => {
    const sql = setup ? `-- setup\n${setup}${own.sql}` : own.sql;
    const workload = workloadOf(database ? 'own-database' : 'own-sql', sql);
    const parameters = { grouped: Number(grouped) };
    const input = database ? { sql, database } : { sql };
    return {
      heading,
      run: runOf(workload, { ...recorded, ...config }, 'time', parameters, input),
    };
  });
}

/**
 * The variants of an experiment, the baseline first.
 * @param engine null: the experiment's own
 * @param faults a fault profile for all of them
 */
export function runsOfExperiment(
  experiment: Experiment,
  engine: EngineBuild | null = null,
  faults: FaultSettings = {},
): { variant: string; title: string; run: Run }[] {
  const variants = [...experiment.variants].sort(
    (a, b) => Number(b.id === experiment.baseline) - Number(a.id === experiment.baseline),
  );
  return variants.map(({ id, title, workload, parameters, config }) => ({
    variant: id,
    title,
    run: runOf(
      workloadOf(workload),
      {
        ...(engine === null ? config : { ...config, engine, build: undefined }),
        ...faults,
      },
      modeWith(experiment.mode, faults),
      parameters,
    ),
  }));
}
