/** From what is chosen on the page to runs: every combination of the chosen values, those that make no difference left out. */
import { runOf as planned } from '../experiments/plan.ts';
import {
  DEFAULT_CONFIG,
  type Config,
  type Experiment,
  type Mode,
  type Parameters,
  type Run,
  type VfsName,
  type Workload,
} from '../experiments/types.ts';
import { buildFor, countPasses, isAvailable, isBuildFor } from '../experiments/worker/builds-here.ts';
import { workloadOf } from '../experiments/workloads/index.ts';

/** A setting that the grid varies. */
export interface Knob {
  readonly key: keyof Config;
  readonly title: string;
  readonly help: string;
  readonly values: readonly (string | number | null)[];
}
const VFSS: readonly VfsName[] = [
  ...(['memory', 'MemoryVFS', 'BlockIDB', 'IDBBatchAtomic', 'IDBMirror'] as const),
  ...(['AccessHandlePool', 'OPFSCoopSync', 'OPFSAdaptive', 'OPFSAnyContext', 'OPFSPermuted', 'OPFSWriteAhead'] as const),
];
export const KNOBS: readonly Knob[] = [
  { key: 'vfs', title: 'VFS', help: 'Where the database lies; memory is SQLite’s own :memory:', values: VFSS },
  { key: 'engine', title: 'SQLite', help: 'The version of wa-sqlite', values: ['wa-sqlite-2.0.6', 'wa-sqlite-1.0.0'] },
  {
    key: 'build',
    title: 'Build',
    help: 'How it waits for promises; not chosen: what the VFS needs. An asynchronous VFS has no sync build, this browser perhaps no JSPI',
    values: ['sync', 'asyncify', 'jspi'],
  },
  { key: 'pageSize', title: 'Page size', help: 'PRAGMA page_size, bytes', values: [null, 1024, 4096, 8192, 32768, 65536] },
  {
    key: 'cacheSize',
    title: 'Cache size',
    help: 'PRAGMA cache_size: pages, or KiB where negative',
    values: [null, 0, 20, 500, 2000, -2000, -16000],
  },
  {
    key: 'journalMode',
    title: 'Journal',
    help: 'PRAGMA journal_mode',
    values: [null, 'delete', 'truncate', 'persist', 'memory', 'wal', 'off'],
  },
  { key: 'synchronous', title: 'Synchronous', help: 'PRAGMA synchronous', values: [null, 'off', 'normal', 'full', 'extra'] },
  { key: 'lockingMode', title: 'Locking', help: 'PRAGMA locking_mode; WAL needs exclusive here', values: [null, 'normal', 'exclusive'] },
  {
    key: 'walAutocheckpoint',
    title: 'Checkpoint',
    help: 'PRAGMA wal_autocheckpoint: frames in the log; 0 = never by itself',
    values: [null, 0, 100, 1000, 10_000],
  },
  { key: 'blockSize', title: 'Block size', help: 'Of BlockIDB, bytes', values: [null, 4096, 8192, 32768, 65536] },
  { key: 'writePolicy', title: 'Writes', help: 'Of BlockIDB: when a block is stored', values: [null, 'through', 'queued', 'lazy'] },
  { key: 'cacheBlocks', title: 'Block cache', help: 'Of BlockIDB: blocks kept in memory', values: [null, 4, 64, 512] },
  {
    key: 'durability',
    title: 'Durability',
    help: 'Of BlockIDB: what IndexedDB is asked for at a commit',
    values: [null, 'relaxed', 'strict'],
  },
];
const BLOCK_KNOBS = ['blockSize', 'writePolicy', 'cacheBlocks', 'durability'] as const;

/** Values chosen by knob; none = what the workload itself sets. */
export type Choices = Readonly<Partial<Record<Knob['key'], readonly (string | number | null)[]>>>;

/** A parameter of a workload that the grid varies. */
export interface ParameterKnob {
  readonly name: string;
  readonly what: string;
  /** What the workload takes where nothing is chosen. */
  readonly own: number;
  readonly values: readonly number[];
}
/** Values chosen by parameter; none = the workload's own. */
export type ParameterChoices = Readonly<Record<string, readonly number[]>>;

const STEPS = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000];
const FEW = [0, 1, 2, 3, 4];
const SMALL_STEPS = [0, 1, 2, 4, 8, 16];

/** Its own value, the ends of what it may be, and powers of ten between (of two where there are few, all where there are five). */
export const parameterKnobs = ({ parameters }: Workload): ParameterKnob[] =>
  Object.entries(parameters).map(([name, { default: own, least, most, what }]) => {
    const between = (most <= 4 ? FEW : most <= 16 ? SMALL_STEPS : STEPS).filter((n) => n > least && n < most);
    return { name, what, own, values: [...new Set([least, ...between, own, most])].sort((a, b) => a - b) };
  });

/** What the user brings. */
export type OwnInput = Pick<Run, 'sql' | 'database'>;

/** Repeats of a run in time mode. */
export const TIME_REPEATS = 5;

/** A whole configuration from a part of one: the build is what the VFS needs, and knobs that it does not have are not set. */
export function completeConfig(part: Partial<Config>): Config {
  const config = { ...DEFAULT_CONFIG, ...part };
  const build = part.build && isBuildFor(part.build, config) ? part.build : buildFor(config.vfs, config.engine);
  return config.vfs === 'BlockIDB'
    ? { ...config, build }
    : { ...config, build, ...Object.fromEntries(BLOCK_KNOBS.map((key) => [key, null])) };
}

export function runOf(workload: Workload, part: Partial<Config>, mode: Mode, parameters: Parameters = {}, own: OwnInput = {}): Run {
  const run = planned(workload, { config: part, parameters }, { mode, repeats: TIME_REPEATS, ...own });
  // the workload's own build belongs to its own VFS
  const given = part.build ?? (part.vfs === undefined && part.engine === undefined ? run.config.build : undefined);
  const config = completeConfig({ ...run.config, build: given ?? buildFor(run.config.vfs, run.config.engine) });
  return { ...run, config, repeats: mode === 'count' ? countPasses() : run.repeats };
}

/** Every combination of the choices that there is, parameters last and in the order of the knobs, each once. */
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
    if (values.length) parameters = parameters.flatMap((part) => values.map((value): Parameters => ({ ...part, [name]: value })));
  }
  for (const { key } of KNOBS) {
    const values = choices[key] ?? [];
    if (values.length) parts = parts.flatMap((part) => values.map((value): Partial<Config> => ({ ...part, [key]: value })));
  }
  const runs = parts
    .flatMap((part) => parameters.map((given) => ({ part, run: runOf(workload, part, mode, given, own) })))
    // a build that was chosen is not replaced by another
    .filter(({ part, run: { config } }) => isAvailable(config.vfs, config.engine) && config.build === (part.build ?? config.build))
    .map(({ run }) => run);
  return [...new Map(runs.map((run) => [JSON.stringify([run.config, run.parameters]), run])).values()];
}

/** The variants of an experiment, the baseline first. */
export function runsOfExperiment(experiment: Experiment): { variant: string; title: string; run: Run }[] {
  const variants = [...experiment.variants].sort((a, b) => Number(b.id === experiment.baseline) - Number(a.id === experiment.baseline));
  return variants.map(({ id, title, workload, parameters, config }) => ({
    variant: id,
    title,
    run: runOf(workloadOf(workload), config, experiment.mode, parameters),
  }));
}

/** The settings and parameters in which runs differ, as a column's heading; what all share is left out. */
export function headings(runs: readonly Run[]): string[] {
  const keys = [...KNOBS.map(({ key }) => key)].filter((key) => new Set(runs.map((r) => r.config[key])).size > 1);
  const names = Object.keys(runs[0]?.parameters ?? {}).filter((name) => new Set(runs.map((r) => r.parameters[name])).size > 1);
  return runs.map(({ config, parameters }) => {
    const parts = [
      ...keys.flatMap((key) => (config[key] === null ? [] : [labelOf(key, config[key])])),
      ...names.map((name) => `${parameters[name]!.toLocaleString('en')} ${name}`),
    ];
    return parts.join(', ') || labelOf('vfs', config.vfs);
  });
}

/** A value as one reads it: `8 KiB pages`, `wal`. */
export function labelOf(key: Knob['key'], value: string | number | null): string {
  if (value === null) return 'default';
  if (key === 'pageSize') return `${size(Number(value))} pages`;
  if (key === 'blockSize') return `${size(Number(value))} blocks`;
  if (key === 'cacheBlocks') return `${value} blocks kept`;
  if (key === 'walAutocheckpoint') return value === 0 ? 'no checkpoint' : `checkpoint at ${Number(value).toLocaleString('en')} frames`;
  if (key === 'durability') return `durability ${value}`;
  if (key === 'cacheSize') return Number(value) < 0 ? `cache ${size(-1024 * Number(value))}` : `cache ${value} pages`;
  return key === 'synchronous' ? `sync ${value}` : key === 'lockingMode' ? `${value} locking` : String(value);
}
const size = (bytes: number): string =>
  bytes >= 1 << 20 ? `${bytes / (1 << 20)} MiB` : bytes >= 1024 ? `${bytes / 1024} KiB` : `${bytes} bytes`;
