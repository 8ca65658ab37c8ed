/** The order of `vfscope lab run`, checked before anything runs. */
import { readFile } from 'node:fs/promises';
import {
  readGrid,
  readWords,
  runOf,
  runsOf,
  type Asked,
  type RunOptions,
} from '../experiments/plan.ts';
import { isInExtension, isOutside } from '../experiments/model/engine-names.ts';
import { modeWith } from '../experiments/model/faults.ts';
import { parametersOf } from '../experiments/model/parameters.ts';
import { NODE_VFS, onWords } from '../experiments/model/vfs-facts.ts';
import { onVfs, type PlacedExperiment } from '../experiments/on-vfs.ts';
import type { Run, VfsName, Workload } from '../experiments/model/types.ts';
import { ALL_EXPERIMENTS } from '../experiments/documents/tries.ts';
import { WORKLOADS, workloadOf } from '../experiments/workloads/index.ts';
import { wrongUse } from '../../terminal/failure.ts';
import type { ReportFiles } from './report-files.ts';
import { databaseFrom } from './database.ts';
import { cannotRead } from '../../terminal/open-file.ts';

export interface LabOptions {
  /** `list` or `run`. */
  readonly verb: 'list' | 'run';
  readonly what: string | undefined;
  readonly config: readonly string[];
  /** Settings of a second variant: shows both side by side, with the exact difference. */
  readonly compare: readonly string[];
  readonly count: boolean;
  /** For a counted workload: also by statement and between VFS calls. */
  readonly statements: boolean;
  /** For a counted workload: by function of the engine. */
  readonly functions: boolean;
  /** With `count`: loads and stores, too. */
  readonly memory?: boolean;
  readonly node: boolean;
  readonly json: boolean;
  readonly repeats: number;
  /** For the workload own-sql. */
  readonly sql: string | undefined;
  /** For the workload own-database: its file. */
  readonly database: string | undefined;
  readonly headed: boolean;
  /** `chromium` or `firefox`. */
  readonly browser: string;
  /** Reports to write. */
  readonly files?: ReportFiles;
  /** External engines, as in `--config engine=...`. */
  readonly engines?: readonly string[];
  /** Adds a native SQLite as a reference for times. */
  readonly native?: boolean;
  /** Where downloaded releases are stored; absent: the user's cache folder. */
  readonly cache?: string | undefined;
}

/** The checked order, the same for the browser's driver and for Node. */
export interface LabOrder {
  readonly what: { readonly experiment: PlacedExperiment } | { readonly workload: Workload };
  readonly asked: Asked;
  /** For a workload with every combination of several values: all combinations, `asked` first. */
  readonly grid: readonly Asked[] | null;
  /** null: nothing to compare with. */
  readonly compared: Asked | null;
  readonly options: RunOptions;
  /** What runs, with the VFS. */
  readonly title: string;
  /** All of them. */
  readonly runs: readonly Run[];
  /** In Node: requested, or because an external engine runs nowhere else. */
  readonly node: boolean;
  readonly native: boolean;
}
function namedWorkload(name: string, sql: string | undefined): Workload {
  if (WORKLOADS.some(({ id }) => id === name)) return workloadOf(name, sql);
  const known = [...ALL_EXPERIMENTS, ...WORKLOADS].map(({ id }) => id).join(', ');
  throw new Error(`unknown experiment or workload "${name}": expected one of ${known}.`);
}

/** The VFSs of `vfs=A,B` for an experiment, which runs on each. @throws naming the valid ones */
const vfsOf = (words: readonly string[]): VfsName[] =>
  readGrid(words).flatMap(({ config: { vfs } }) => vfs ?? []);

/** `--engine A --engine B` as a setting. */
const engineWords = ({ engines = [] }: LabOptions): string[] =>
  engines.length ? [`engine=${engines.join(',')}`] : [];

/**
 * A release that the extension also has is taken from npm unless the order needs a browser, as any
 * other release.
 */
const isFromNpm = (runs: readonly Run[], browser: string): boolean =>
  browser === 'chromium' &&
  runs.some(({ config }) => isOutside(config.engine)) &&
  runs.every(({ config }) => NODE_VFS.includes(config.vfs));

/** Whether a workload reopens its database, which `:memory:` doesn't survive. */
const reopens = (workload: Workload, { parameters }: Asked): boolean =>
  [...workload.steps(parametersOf(workload, parameters))].some(
    (step) => step.kind === 'host' && step.action === 'reopen',
  );

/**
 * With a native SQLite or an external engine, everything runs on `:memory:`, or in files in memory,
 * so that only the engines differ.
 */
function onOneVfs(
  all: readonly Asked[],
  changed: Asked,
  native: boolean,
  workload: Workload,
): Asked[] {
  const outside =
    native ||
    [...all, changed].some(({ config: { engine } }) => engine !== undefined && isOutside(engine));
  return all.map((asked) => {
    const { config, parameters } = asked;
    if (!outside || config.vfs !== undefined) return asked;
    const vfs = reopens(workload, asked) ? 'MemoryVFS' : 'memory';
    return { config: { ...config, vfs }, parameters };
  });
}

async function fileOf(path: string, what: string): Promise<Buffer<ArrayBuffer>> {
  return readFile(path).catch((e: unknown) => Promise.reject(new Error(cannotRead(path, e, what))));
}

/** Parses the command's words. @throws CommandFailure with the cause */
export async function orderOf(o: LabOptions): Promise<LabOrder> {
  if (o.what === undefined)
    throw wrongUse(
      'vfscope lab run: the name of an experiment or a workload is missing; `vfscope lab list` names them.',
    );
  try {
    const named = ALL_EXPERIMENTS.find((e) => e.id === o.what);
    const ofVfs = (word: string): boolean => named !== undefined && word.startsWith('vfs=');
    const sql =
      o.sql === undefined ? undefined : (await fileOf(o.sql, 'a file of SQL')).toString('utf8');
    if (o.what === 'own-sql' && sql === undefined) throw new Error('own-sql needs --sql FILE.');
    if (o.what === 'own-database' && (sql === undefined || o.database === undefined))
      throw new Error('own-database needs --file DATABASE and --sql FILE.');
    if (o.what !== 'own-database' && o.database !== undefined)
      throw new Error('--file DATABASE is for own-database.');
    const database = o.database === undefined ? undefined : await databaseFrom(o.database);
    const words = readGrid([...engineWords(o), ...o.config.filter((word) => !ofVfs(word))]);
    const where = o.node ? 'node' : 'browser';
    const experiment =
      named && onVfs(named, vfsOf(o.config.filter(ofVfs)), where, words[0]!.config);
    const all = experiment
      ? words
      : onOneVfs(words, readWords(o.compare), o.native ?? false, namedWorkload(o.what, sql));
    const [asked] = all as [Asked];
    const grid = all.length > 1 ? all : null;
    if (grid && experiment)
      throw new Error(
        'several values are for one workload; an experiment has its variants, and takes several for vfs alone.',
      );
    if (grid && (o.compare.length || o.statements || o.functions))
      throw new Error(
        'several values cannot be combined with --compare, --statements or --functions: --json has every step of every run.',
      );
    const changed = readWords(o.compare);
    const compared = o.compare.length
      ? {
          config: { ...asked.config, ...changed.config },
          parameters: { ...asked.parameters, ...changed.parameters },
        }
      : null;
    if ((o.statements || o.functions) && (experiment || !o.count))
      throw new Error(
        `--${o.statements ? 'statements' : 'functions'} is for one workload with --count.`,
      );
    if (o.statements && o.functions)
      throw new Error('--statements and --functions need separate runs. Use one of them.');
    if (o.memory && (o.statements || o.functions))
      throw new Error('--memory needs a separate run, without --statements and --functions.');
    if (experiment && compared)
      throw new Error('--compare is for one workload; an experiment has its variants.');
    if (o.native && experiment) throw new Error('--native is for one workload.');
    if (o.native && o.count)
      throw new Error(
        '--native compares times: it has no instructions of wasm. Leave out --count.',
      );
    const mode = o.count ? 'count' : modeWith(experiment?.mode ?? 'time', asked.config);
    if (o.memory && mode !== 'count') throw new Error('--memory needs --count.');
    const options: RunOptions = {
      mode,
      repeats: o.repeats,
      ...(o.functions ? { functions: true } : {}),
      ...(o.native ? { asText: true } : {}),
      ...(o.memory ? { memory: true } : {}),
      ...(sql === undefined ? {} : { sql }),
      ...(database === undefined ? {} : { database }),
    };
    const what: LabOrder['what'] = experiment
      ? { experiment }
      : { workload: namedWorkload(o.what, sql) };
    // finds all errors in the words before anything runs
    const runs =
      'workload' in what
        ? (compared ? [asked, compared] : all).map((each) => runOf(what.workload, each, options))
        : [...runsOf(what.experiment, asked, options).values()];
    const title =
      'workload' in what
        ? `${what.workload.title}, ${onWords(runs.map(({ config }) => config.vfs))}`
        : what.experiment.title;
    const outside = runs.find(({ config }) => !isInExtension(config.engine));
    if (outside && !o.node && (o.headed || o.browser !== 'chromium'))
      throw new Error(`${outside.config.engine} runs in Node only, not in a browser.`);
    const node = o.node || outside !== undefined || (!o.headed && isFromNpm(runs, o.browser));
    if (o.native && !node) throw new Error('--native compares with runs in Node: add --node.');
    return { what, asked, grid, compared, options, title, runs, node, native: o.native ?? false };
  } catch (e) {
    throw wrongUse(e instanceof Error ? e.message : String(e));
  }
}
