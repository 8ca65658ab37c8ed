/** From a user's order to runs: fills in defaults, checks settings, and parses values. */
import { isBundled, isOutside, releaseNamed } from './model/engine-names.ts';
import { FAULT_KEYS, isFaultKey } from './model/faults.ts';
import { needsAsync, ownEngineOf, ownJournalOf } from './model/vfs-facts.ts';
import {
  DEFAULT_CONFIG,
  VFS_NAMES,
  type Config,
  type Experiment,
  type Mode,
  type Parameters,
  type Run,
  type Workload,
} from './model/types.ts';
import { workloadOf } from './workloads/index.ts';
import { parametersOf } from './model/parameters.ts';

/**
 * The valid values of a setting; `number` = any integer, `engine` = bundled and external engines.
 */
const VALUES: Readonly<Record<keyof Config, readonly string[] | 'number' | 'engine'>> = {
  engine: 'engine',
  build: ['sync', 'asyncify', 'jspi'],
  vfs: VFS_NAMES,
  pageSize: ['512', '1024', '2048', '4096', '8192', '16384', '32768', '65536'],
  cacheSize: 'number',
  journalMode: ['delete', 'truncate', 'persist', 'memory', 'wal', 'off'],
  synchronous: ['off', 'normal', 'full', 'extra'],
  lockingMode: ['normal', 'exclusive'],
  walAutocheckpoint: 'number',
  blockSize: 'number',
  writePolicy: ['through', 'queued', 'lazy'],
  cacheBlocks: 'number',
  durability: ['default', 'relaxed', 'strict'],
  slowFlush: 'number',
  refusedHandle: 'number',
  quota: 'number',
};
/** Numeric settings that only accept some numbers. */
const NUMBERS: ReadonlySet<string> = new Set([
  'pageSize',
  'cacheSize',
  'walAutocheckpoint',
  'blockSize',
  'cacheBlocks',
  ...FAULT_KEYS,
]);
/** Maximum delay of a flush, ms. */
const SLOWEST_MS = 10_000;

export interface Asked {
  readonly config: Partial<Config>;
  readonly parameters: Parameters;
}

/**
 * Reads `key=value` words: settings by name (pageSize=8192, or page_size=8192), everything else as
 * the workload's parameters.
 * @throws naming the setting and its valid values
 */
export function readWords(words: readonly string[]): Asked {
  const config: [string, string | number | null][] = [];
  const parameters: [string, number][] = [];
  for (const word of words) {
    const at = word.indexOf('=');
    if (at < 1) throw new Error(`"${word}": expected setting=value, as in pageSize=8192.`);
    const value = word.slice(at + 1);
    const key = word.slice(0, at).replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const known = Object.hasOwn(VALUES, key) ? VALUES[key as keyof Config] : undefined;
    if (!known) parameters.push([word.slice(0, at), whole(word, value)]);
    else if (known === 'engine') config.push([key, engineNamed(value)]);
    else if (value === 'default' && key !== 'durability') config.push([key, null]);
    else if (known !== 'number' && !known.includes(value))
      throw new Error(`${word}: expected one of ${known.join(', ')}.`);
    else config.push([key, NUMBERS.has(key) ? numberOf(key, word, value) : value]);
  }
  return {
    config: Object.fromEntries(config) as Partial<Config>,
    parameters: Object.fromEntries(parameters),
  };
}

/** @throws naming the valid engines */
function engineNamed(value: string): string {
  if (!isBundled(value)) releaseNamed(value);
  return value;
}

/** Maximum combinations of one command. */
const MOST_RUNS = 256;

/**
 * Reads words that may have several values, as in `pageSize=4096,8192`: every combination, with the
 * last word's values varying fastest.
 * @throws as `readWords`; where a value is missing, or there are too many combinations
 */
export function readGrid(words: readonly string[]): Asked[] {
  let all: string[][] = [[]];
  for (const word of words) {
    const at = word.indexOf('=') + 1;
    const values = [...new Set(word.slice(at).split(','))];
    if (at > 0 && values.length > 1 && values.includes(''))
      throw new Error(`"${word}": a value between two commas is missing.`);
    all = all.flatMap((chosen) =>
      values.map((value) => [...chosen, at > 0 ? word.slice(0, at) + value : value]),
    );
    if (all.length > MOST_RUNS)
      throw new Error(`${words.join(' ')}: more than ${MOST_RUNS} combinations.`);
  }
  return all.map(readWords);
}

function whole(word: string, value: string): number {
  const n = Number(value);
  if (!/^-?\d+$/.test(value) || !Number.isSafeInteger(n))
    throw new Error(`${word}: expected a whole number.`);
  return n;
}

/** @throws where it isn't an integer, or for a fault profile is out of range */
function numberOf(key: string, word: string, value: string): number {
  const n = whole(word, value);
  if (isFaultKey(key) && n < 1) throw new Error(`${word}: expected 1 or more.`);
  if (key === 'slowFlush' && n > SLOWEST_MS)
    throw new Error(`${word}: expected at most ${SLOWEST_MS} ms.`);
  return n;
}

export interface RunOptions {
  readonly mode: Mode;
  /** For time mode. */
  readonly repeats: number;
  readonly seed?: number;
  /** Count mode: each function of the engine separately. */
  readonly functions?: boolean;
  /** Bound values are written into the SQL. */
  readonly asText?: boolean;
  /** Count mode: also loads and stores. */
  readonly memory?: boolean;
  readonly sql?: string;
  readonly database?: Run['database'];
}

/**
 * One run of a workload: the requested settings over its own.
 * @throws on an unknown workload or parameter
 */
export function runOf(
  workload: Workload,
  asked: Partial<Asked>,
  { mode, repeats, seed = 12345, functions, memory, asText, sql, database }: RunOptions,
): Run {
  const chosen = { ...DEFAULT_CONFIG, ...ownVfs(asked), ...workload.config, ...asked.config };
  // no engine was given: use the one that contains the VFS
  const engine = asked.config?.engine ?? ownEngineOf(chosen.vfs) ?? chosen.engine;
  const journalMode = chosen.journalMode ?? ownJournalOf(chosen.vfs);
  const config = { ...chosen, engine, journalMode };
  // no build was given: use one that can run the VFS
  const named = asked.config?.build ?? workload.config.build;
  const build = named ?? (needsAsync(config.vfs) ? asyncBuild(config) : 'sync');
  return {
    workload: workload.id,
    parameters: parametersOf(workload, asked.parameters),
    config: { ...config, build },
    mode,
    repeats: mode === 'count' ? 1 : repeats,
    seed,
    readRows: true,
    ...(functions ? { functions } : {}),
    ...(asText ? { asText } : {}),
    ...(memory ? { memory } : {}),
    ...(sql === undefined ? {} : { sql }),
    ...(database === undefined ? {} : { database }),
  };
}

/** The runs of an experiment, by variant. The requested settings override every variant's. */
export function runsOf(
  experiment: Experiment,
  asked: Partial<Asked>,
  options: RunOptions,
): Map<string, Run> {
  return new Map(
    experiment.variants.map((variant) => {
      const workload = workloadOf(variant.workload);
      // a parameter that this variant's workload lacks belongs to another workload
      const mine = Object.entries(asked.parameters ?? {}).filter(([name]) =>
        Object.hasOwn(workload.parameters, name),
      );
      const parameters = { ...variant.parameters, ...Object.fromEntries(mine) };
      return [
        variant.id,
        runOf(workload, { config: { ...variant.config, ...asked.config }, parameters }, options),
      ];
    }),
  );
}

/** External engines have no VFS of the Lab. By default they run on SQLite's own `:memory:`. */
const ownVfs = ({ config }: Partial<Asked>): Partial<Config> =>
  config?.engine !== undefined && isOutside(config.engine) ? { vfs: 'memory' } : {};

/**
 * JSPI if the engine has it and the VFS only exists in browsers. The in-memory one also runs in
 * Node, which may lack JSPI.
 */
const asyncBuild = ({ engine, vfs }: Config): Config['build'] =>
  engine === 'wa-sqlite-1.0.0' || vfs === 'MemoryAsyncVFS' ? 'asyncify' : 'jspi';
