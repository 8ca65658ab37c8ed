/** From what a user asks for to runs: defaults filled in, settings checked, words turned into values. */
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

/** The values that a setting may have; `number` = any whole number, `engine` = bundled ones and those from outside. */
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
/** Settings that are numbers, though only some of them. */
const NUMBERS: ReadonlySet<string> = new Set([
  'pageSize',
  'cacheSize',
  'walAutocheckpoint',
  'blockSize',
  'cacheBlocks',
  ...FAULT_KEYS,
]);
/** Longest that a flush can be slowed down, ms. */
const SLOWEST_MS = 10_000;

export interface Asked {
  readonly config: Partial<Config>;
  readonly parameters: Parameters;
}

/**
 * Reads `key=value` words: settings by their names (pageSize=8192, or page_size=8192), everything else as the workload's parameters.
 * @throws naming the setting and what it may be
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

/** @throws naming what an engine can be */
function engineNamed(value: string): string {
  if (!isBundled(value)) releaseNamed(value);
  return value;
}

/** Combinations that one command may ask for. */
const MOST_RUNS = 256;

/**
 * Reads words of which one may name several values, as in `pageSize=4096,8192`: every combination, the last word's values varying fastest.
 * @throws as `readWords`; where a value is missing, or the combinations are too many
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

/** @throws where it isn't a whole number, or of a fault profile and out of its range */
function numberOf(key: string, word: string, value: string): number {
  const n = whole(word, value);
  if (isFaultKey(key) && n < 1) throw new Error(`${word}: expected 1 or more.`);
  if (key === 'slowFlush' && n > SLOWEST_MS)
    throw new Error(`${word}: expected at most ${SLOWEST_MS} ms.`);
  return n;
}

export interface RunOptions {
  readonly mode: Mode;
  /** Of time mode. */
  readonly repeats: number;
  readonly seed?: number;
  /** Count mode: each function of the engine apart. */
  readonly functions?: boolean;
  /** Bound values written into the SQL. */
  readonly asText?: boolean;
  /** Count mode: loads and stores, too. */
  readonly memory?: boolean;
  readonly sql?: string;
  readonly database?: Run['database'];
}

/** One run of a workload: its own settings under those asked for. @throws on an unknown workload or parameter */
export function runOf(
  workload: Workload,
  asked: Partial<Asked>,
  { mode, repeats, seed = 12345, functions, memory, asText, sql, database }: RunOptions,
): Run {
  const chosen = { ...DEFAULT_CONFIG, ...ownVfs(asked), ...workload.config, ...asked.config };
  // no engine was named: the one that brings the VFS
  const engine = asked.config?.engine ?? ownEngineOf(chosen.vfs) ?? chosen.engine;
  const journalMode = chosen.journalMode ?? ownJournalOf(chosen.vfs);
  const config = { ...chosen, engine, journalMode };
  // no build was named: one that can run the VFS
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

/** The runs of an experiment, by variant; what is asked for comes on top of every variant. */
export function runsOf(
  experiment: Experiment,
  asked: Partial<Asked>,
  options: RunOptions,
): Map<string, Run> {
  return new Map(
    experiment.variants.map((variant) => {
      const workload = workloadOf(variant.workload);
      // a parameter that this variant's workload does not have belongs to another's
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

/** Engines from outside have no VFS of the Lab: where none is asked for, they run on SQLite's own `:memory:`. */
const ownVfs = ({ config }: Partial<Asked>): Partial<Config> =>
  config?.engine !== undefined && isOutside(config.engine) ? { vfs: 'memory' } : {};

/** JSPI where the engine has it and the VFS lives in browsers; the in-memory one also runs in Node, which may lack JSPI. */
const asyncBuild = ({ engine, vfs }: Config): Config['build'] =>
  engine === 'wa-sqlite-1.0.0' || vfs === 'MemoryAsyncVFS' ? 'asyncify' : 'jspi';
