/**
 * The environment of a result: what ran it, and its text for runs, saved files, the page, the
 * command, and reports. Without it, a number can't be compared.
 */
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatExact,
  UNKNOWN,
} from '../../../text/numbers.ts';
import type { EngineFacts, Environment } from './environment-types.ts';
import { endedWhy } from './fault-verdict.ts';
import { faultsText, hasFaults } from './faults.ts';
import { labelOf } from './knobs.ts';
import type { RunResult } from './result-types.ts';
import type { Config, Parameters, VfsName } from './types.ts';
import { vfsTitle } from './vfs-facts.ts';

/** A result with its name among others. */
export interface NamedResult {
  readonly name: string;
  readonly result: RunResult;
}
/** The environment in any result. */
export interface Ran {
  readonly engine?: EngineFacts;
  readonly environment: Environment;
  /** For a run. */
  readonly run?: { readonly config: { readonly engine: string; readonly build: string } };
}
/** For a result that isn't from a workload's run: a replay, a crash test, an advice. */
export interface RanOn extends Ran {
  readonly vfs: string;
  readonly pragmas: string;
  readonly passes: string;
}
interface Named<T> {
  readonly name: string;
  readonly result: T;
}
export interface EnvironmentFact {
  readonly label: string;
  /** A fact that all runs share, or several values with the names of their runs. */
  readonly values: readonly { readonly text: string; readonly of: readonly string[] | null }[];
}

const NOT_SAVED = `${UNKNOWN} (not saved with this result)`;
/** Why an environment doesn't report something. */
const unreported = ({ userAgent }: Environment): string =>
  `${UNKNOWN} (${userAgent === undefined ? 'the system' : 'the browser'} doesn't report it)`;
const said = <T>(
  environment: Environment,
  value: T | null | undefined,
  text: (value: T) => string,
): string =>
  value === undefined ? NOT_SAVED : value === null ? unreported(environment) : text(value);

/** Settings of the connection itself, without those that are results. */
const NO_PRAGMA = new Set(['page_count']);

/** Number of passes that count, and the one that doesn't. */
function passesOf({ run, totalMs, warmUpMs, leftOut }: RunResult): string {
  if (run.mode === 'count')
    return run.repeats > 1 ? `${run.repeats}, the lowest count taken` : COUNTED_ONCE;
  const out = leftOut.length ? `, ${leftOut.length} left out` : '';
  return `${totalMs?.passes.length ?? run.repeats}${out}${warmUpMs === null ? '' : ', after 1 that warms up'}`;
}

/** The VFS of a configuration, if it stores, and its own settings. */
export function vfsText(config: Config): string {
  const own = (['blockSize', 'writePolicy', 'cacheBlocks', 'durability'] as const).flatMap((key) =>
    config[key] === null ? [] : [labelOf(key, config[key])],
  );
  return [vfsTitle(config.vfs), ...own].join(', ');
}

type Fact<T> = readonly [label: string, of: (result: T) => string];
const ENGINE: readonly Fact<Ran>[] = [
  ['SQLite', ({ engine }) => engine?.sqlite ?? NOT_SAVED],
  [
    'Build',
    ({ engine, run }) =>
      engine
        ? `${engine.package} ${engine.version}, ${engine.variant}`
        : run
          ? `${run.config.engine}, ${run.config.build}`
          : NOT_SAVED,
  ],
  [
    'Wasm size',
    ({ engine }) =>
      engine
        ? `${formatBytes(engine.wasmBytes)} (${formatCount(engine.wasmBytes)} bytes)`
        : NOT_SAVED,
  ],
];
const PLACE: readonly Fact<Ran>[] = [
  ['Runtime', ({ environment: e }) => said(e, e.runtime, String)],
  ['Platform', ({ environment: e }) => said(e, e.platform, String)],
  ['Processor', ({ environment: e }) => said(e, e.processor, String)],
  ['Cores', ({ environment: e }) => said(e, e.cores, formatCount)],
  ['Disk', ({ environment: e }) => said(e, e.disk, String)],
  ['Clock step', ({ environment: e }) => said(e, e.clockStepUs, formatDuration)],
  [
    'Isolated',
    ({ environment: e }) =>
      e.crossOriginIsolated === null && e.userAgent === undefined
        ? `${UNKNOWN} (of browsers only)`
        : said(e, e.crossOriginIsolated, (is) => (is ? 'yes' : 'no')),
  ],
];
/** How a run that is counted once appears among passes. */
export const COUNTED_ONCE = '1, counted';
interface RanWorkload {
  readonly workload: string;
  readonly version: number;
  readonly parameters: Parameters;
}
const workloadText = ({ workload, version, parameters }: RanWorkload): string =>
  [
    `${workload} (version ${version})`,
    ...Object.entries(parameters).map(([name, n]) => `${name} ${formatExact(n)}`),
  ].join(', ');
const FACTS: readonly Fact<RunResult>[] = [
  [
    'Workload',
    ({ run, version }) =>
      [
        workloadText({ ...run, version }),
        ...(run.database ? [`database ${run.database.name}`] : []),
        ...(run.asText ? ['bound values written into the SQL'] : []),
      ].join(', '),
  ],
  ['VFS', ({ run }) => vfsText(run.config)],
  ...ENGINE,
  ['Passes', passesOf],
  ...PLACE,
];

type Value = EnvironmentFact['values'][number];
/** The distinct texts of results, each with their names. */
function grouped<T>(results: readonly Named<T>[], of: (result: T) => string): Value[] {
  const groups = new Map<string, Set<string>>();
  for (const { name, result } of results) {
    const text = of(result);
    groups.set(text, (groups.get(text) ?? new Set()).add(name));
  }
  return [...groups].map(([text, names]) => ({ text, of: groups.size > 1 ? [...names] : null }));
}

type Settings = RunResult['settings'];
/** Pragmas that all runs share as one value, then those that differ. */
function settingValues(runs: readonly Named<{ readonly settings: Settings }>[]): Value[] {
  const names = new Set(runs.flatMap(({ result }) => Object.keys(result.settings)));
  const each = [...names]
    .filter((name) => !NO_PRAGMA.has(name))
    .map((name) => grouped(runs, ({ settings }) => `${name} ${settings[name] ?? UNKNOWN}`));
  const shared = each.flatMap((values) => (values.length === 1 ? values[0]!.text : []));
  const different = each.filter((values) => values.length > 1).flat();
  return [...(shared.length ? [{ text: shared.join(', '), of: null }] : []), ...different];
}
const pragmasOf = (runs: readonly NamedResult[]): Value[] => {
  const values = settingValues(runs);
  return values.length
    ? values
    : grouped(runs, (result) =>
        endedWhy(result) ? `${UNKNOWN} (${endedWhy(result)})` : NOT_SAVED,
      );
};
/** As a line of the environment. */
export const pragmaText = (settings: Settings): string =>
  settingValues([{ name: '', result: { settings } }])[0]?.text ?? NOT_SAVED;

const RAN_ON: readonly Fact<RanOn>[] = [
  ['VFS', ({ vfs }) => vfs],
  ['Pragmas', ({ pragmas }) => pragmas],
  ...ENGINE,
  ['Passes', ({ passes }) => passes],
  ...PLACE,
];
/**
 * What ran the counts of releases in one table, with each one's SQLite version and size.
 * @param results at least one
 */
export const releaseFacts = (
  of: RanWorkload,
  results: readonly Named<{
    readonly environment: Environment;
    readonly vfs: VfsName;
    readonly variant: string | null;
    readonly settings: Settings;
  }>[],
): EnvironmentFact[] => [
  { label: 'Workload', values: [{ text: workloadText(of), of: null }] },
  { label: 'VFS', values: grouped(results, ({ vfs }) => vfsTitle(vfs)) },
  { label: 'Pragmas', values: settingValues(results) },
  { label: 'Build', values: grouped(results, ({ variant }) => variant ?? UNKNOWN) },
  { label: 'Passes', values: [{ text: COUNTED_ONCE, of: null }] },
  ...PLACE.map(([label, of]) => ({ label, values: grouped(results, of) })),
];
/** What ran results that aren't from a workload's runs. @param results at least one */
export const ranFacts = (results: readonly Named<RanOn>[]): EnvironmentFact[] =>
  RAN_ON.map(([label, of]) => ({ label, values: grouped(results, of) }));

/** What ran these results; what all share is one value. @param runs at least one */
export function environmentFacts(runs: readonly NamedResult[]): EnvironmentFact[] {
  const facts = FACTS.map(([label, of]) => ({ label, values: grouped(runs, of) }));
  const at = facts.findIndex(({ label }) => label === 'VFS') + 1;
  const faulty = runs.some(({ result }) => hasFaults(result.run.config));
  const faults = faulty
    ? [{ label: 'Faults', values: grouped(runs, ({ run }) => faultsText(run.config) || 'none') }]
    : [];
  return [
    ...facts.slice(0, at),
    ...faults,
    { label: 'Pragmas', values: pragmasOf(runs) },
    ...facts.slice(at),
  ];
}

/** As a block of a report. */
export const factPairs = (
  facts: readonly EnvironmentFact[],
): (readonly [label: string, value: string])[] =>
  facts.flatMap(({ label, values }) =>
    values.map((value, i) => [i ? '' : label, factText(value)] as const),
  );
const MOST_NAMES = 4;
/** `value (of a, b and 3 more)`. */
export const factText = ({ text, of }: EnvironmentFact['values'][number]): string =>
  of === null
    ? text
    : `${text} (${of.slice(0, MOST_NAMES).join(', ')}${of.length > MOST_NAMES ? ` and ${of.length - MOST_NAMES} more` : ''})`;
