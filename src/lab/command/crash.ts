/**
 * `vfscope lab crash`: what survives a crash, as a table of guarantees. In Node, on emulated
 * storage, without a browser.
 */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { assumptionsOf } from '../crash/assumptions.ts';
import { configOf, crashTest } from '../crash/crash-test.ts';
import {
  CRASH_VFSS,
  crashConfigs,
  DEFAULT_OPTIONS,
  isTested,
  LEVELS,
  type CrashConfig,
  type CrashOptions,
  type CrashResult,
  type NotTested,
} from '../crash/model.ts';
import { crashText as takesText } from '../experiments/duration.ts';
import { failureText, waSqliteOpener, type Opener } from '../crash/open.ts';
import { sahpoolOpener, type SqliteWasm } from '../crash/open-sahpool.ts';
import { crashCsv, crashFacts, crashHtml, crashObject, crashSvg } from '../results/crash-report.ts';
import { breachLines, coverageLines, crashConfigText, guaranteeTable } from '../results/crash.ts';
import { wrongUse } from '../../terminal/failure.ts';
import { complain, Exit } from '../../terminal/open-file.ts';
import { table } from '../../terminal/report-text.ts';
import { jsonText, print } from '../../terminal/stdout.ts';
import { plain } from '../../text/clean.ts';
import { countOf } from '../../text/numbers.ts';
import { listenForInterrupt, type Interrupt } from '../../drive/interrupt.ts';
import { versionIn } from './engines/packages.ts';
import { checkReportFiles, writeReportFiles, type ReportFiles } from './report-files.ts';
import { factLines } from './run-text.ts';
import { nodeSurroundings, packageFile } from './node.ts';

export interface CrashCommand {
  /** `name=value,value` words. */
  readonly config: readonly string[];
  readonly json: boolean;
  /** The minimum that every configuration must retain; null: no requirement. */
  readonly require: string | undefined;
  /** Reports to write. */
  readonly files?: ReportFiles;
}

type Outcome = CrashResult | NotTested;

/** @returns the exit code: 1 where a configuration retains less than required */
export async function crashCommand({
  config,
  json,
  require,
  files = {},
}: CrashCommand): Promise<number> {
  const worst = worstAllowed(require);
  const { configs, options } = crashOrder(config);
  await checkReportFiles(files);
  complain(
    `${countOf(configs.length, 'configuration')}. ${takesText(configs.length, options.commits)}`,
  );
  const outcomes: Outcome[] = [];
  let done = 0;
  const interrupt = listenForInterrupt(complain);
  for (const [i, one] of configs.entries()) {
    if (await interrupt.heard()) break;
    complain(`${i + 1} of ${configs.length}: ${crashConfigText(one)}`);
    const outcome = await tested(one, options, interrupt);
    outcomes.push(outcome);
    if (isTested(outcome) || !interrupt.came) done++;
  }
  interrupt.ignore();
  const tests = { options, outcomes };
  await writeReportFiles(files, {
    html: () => crashHtml(tests),
    svg: () => crashSvg(tests),
    csv: () => crashCsv(tests),
  });
  await print(json ? jsonText(crashObject(tests)) : crashText(outcomes, options));
  if (interrupt.came) {
    complain(`interrupted: ${done} of ${countOf(configs.length, 'configuration')} done.`);
    return Exit.browserFailed;
  }
  const holds = outcomes
    .filter(isTested)
    .every(
      ({ processDeath, powerLoss }) =>
        LEVELS.indexOf(processDeath.level) <= worst && LEVELS.indexOf(powerLoss.level) <= worst,
    );
  return holds ? Exit.done : Exit.checkFailed;
}

function worstAllowed(require: string | undefined): number {
  if (require === undefined) return LEVELS.length;
  if (require === 'kept') return LEVELS.indexOf('kept');
  if (require === 'intact') return LEVELS.indexOf('lost');
  throw wrongUse(`--require ${require}: expected kept (all commits) or intact (the database).`);
}

const VALUES = {
  vfs: CRASH_VFSS,
  journalMode: ['delete', 'truncate', 'persist', 'memory', 'wal', 'off'],
  synchronous: ['off', 'normal', 'full', 'extra'],
  durability: ['default', 'relaxed', 'strict'],
  truncates: ['ordered', 'any'],
} as const;
type Choices = { -readonly [K in keyof typeof VALUES]: readonly (typeof VALUES)[K][number][] };
const DEFAULTS: Choices = {
  vfs: CRASH_VFSS,
  journalMode: ['delete', 'wal'],
  synchronous: ['full', 'normal'],
  durability: ['relaxed', 'strict'],
  truncates: [DEFAULT_OPTIONS.truncates],
};
const MOST_COMMITS = 50;

/**
 * The configurations from the words: every combination of their values.
 * @throws CommandFailure with the cause
 */
export function crashOrder(words: readonly string[]): {
  configs: CrashConfig[];
  options: CrashOptions;
} {
  const chosen: Record<string, readonly string[]> = { ...DEFAULTS };
  let { commits } = DEFAULT_OPTIONS;
  for (const word of words) {
    const at = word.indexOf('=');
    const name = word
      .slice(0, at)
      .replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const values = [...new Set(word.slice(at + 1).split(','))];
    if (name === 'commits') commits = Number(values[0]);
    else if (!Object.hasOwn(VALUES, name))
      throw wrongUse(`${word}: expected ${Object.keys(VALUES).join(', ')}, or commits.`);
    else {
      const known: readonly string[] = VALUES[name as keyof typeof VALUES];
      if (!values.every((value) => known.includes(value)))
        throw wrongUse(`${word}: expected some of ${known.join(', ')}.`);
      chosen[name] = values;
    }
  }
  if (!(Number.isInteger(commits) && commits >= 1 && commits <= MOST_COMMITS))
    throw wrongUse(`commits: expected 1 to ${MOST_COMMITS}.`);
  const { vfs, journalMode, synchronous, durability, truncates } = chosen as unknown as Choices;
  if (truncates.length !== 1) throw wrongUse('truncates: expected ordered or any.');
  return {
    configs: crashConfigs({ vfs, journalMode, synchronous, durability }),
    options: { commits, truncates: truncates[0]! },
  };
}

const { engines, environment } = nodeSurroundings();
let sahpool: Promise<SqliteWasm> | null = null;

/** @throws where the package isn't installed */
export async function openerOf(config: CrashConfig): Promise<Opener> {
  return config.vfs === 'opfs-sahpool'
    ? sahpoolOpener(await (sahpool ??= loadSahpool()))
    : waSqliteOpener(engines, configOf(config));
}

/**
 * Node would load the package's bundle for Node, which has no VFS on storage. This is the bundle
 * for browsers.
 */
async function loadSahpool(): Promise<SqliteWasm> {
  const wasm = packageFile('@sqlite.org/sqlite-wasm/sqlite3.wasm');
  const bundle = pathToFileURL(join(dirname(wasm), 'index.mjs')).href;
  const { default: init } = (await import(bundle)) as { default: SqliteWasm['init'] };
  const bytes = new Uint8Array(await readFile(wasm));
  const version = versionIn(dirname(dirname(wasm)));
  if (version === null) throw new Error(`${wasm} belongs to no package`);
  const compiled = await WebAssembly.compile(bytes);
  return { init, wasm: compiled, wasmBytes: bytes.length, version };
}

/**
 * An interrupted configuration stops at its next crash and has no result, because a guarantee
 * covers all crashes.
 */
async function tested(
  config: CrashConfig,
  options: CrashOptions,
  interrupt: Interrupt,
): Promise<Outcome> {
  try {
    return await crashTest(config, await openerOf(config), options, {
      environment,
      onCrash: async (crashes) => {
        if (await interrupt.heard())
          throw new Error(`interrupted after ${countOf(crashes, 'crash', 'crashes')}.`);
      },
    });
  } catch (e) {
    // the VFS or SQLite rejects the configuration, or its package is missing: the others continue
    return { config, cause: failureText(e).split('\n')[0]! };
  }
}

function crashText(outcomes: readonly Outcome[], options: CrashOptions): string {
  const { title, head, rows } = guaranteeTable(outcomes);
  const section = (heading: string, lines: readonly string[]): string[] =>
    lines.length ? ['', heading, ...lines.map((line) => `  ${plain(line)}`)] : [];
  return `${[
    title,
    ...table(
      head,
      rows,
      head.map((_, i) => i),
    ),
    ...section('First breaches', breachLines(outcomes)),
    ...section('Checked', coverageLines(outcomes)),
    ...section('Assumptions', assumptionsOf(options)),
    ...factLines(crashFacts(outcomes)),
  ].join('\n')}\n`;
}
