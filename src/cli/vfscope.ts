/**
 * The vfscope command: arguments in, exit code out. 0 done; 1 a check failed; 2 wrong use; 3
 * browser or page failed.
 */
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { captureOf } from './capture-options.ts';
import { checkCommand } from './check.ts';
import { commandNames, completionScript, isShell, SHELL_NAMES } from './completion.ts';
import { demo } from './demo.ts';
import { didYouMean } from './did-you-mean.ts';
import { diffCommand } from './diff.ts';
import { CommandFailure, wrongUse } from '../terminal/failure.ts';
import { doctorCommand } from './doctor.ts';
import { exportCommand } from './export.ts';
import { findingsCommand } from './findings.ts';
import { fleetAdd, fleetCompact, fleetReportCommand } from './fleet.ts';
import { adviseCommand } from '../lab/command/advise.ts';
import { crashCommand } from '../lab/command/crash.ts';
import { checkResultCommand } from '../lab/command/check.ts';
import { diffResultsCommand } from '../lab/command/diff.ts';
import { labCommand } from '../lab/command/lab.ts';
import { replayCommand } from '../lab/command/replay.ts';
import { showCommand } from '../lab/command/show.ts';
import { versionsCommand } from '../lab/command/versions.ts';
import { listenCommand } from './listen.ts';
import { serveMcp } from './mcp.ts';
import { open } from './open.ts';
import { plansCommand } from './plans.ts';
import { queryCommand } from './query.ts';
import { complain, Exit } from '../terminal/open-file.ts';
import { record, recordingName } from './record.ts';
import { outliveReaders, print } from '../terminal/stdout.ts';
import { summaryCommand } from './summary.ts';
import { usage, usageOf } from './usage.ts';

declare const VFSCOPE_VERSION: string;

/** The command's arguments are invalid. The correct usage follows the message. */
class WrongWords extends CommandFailure {
  constructor(message: string) {
    super(2, message);
  }
}

const text = { type: 'string' } as const;
const yes = { type: 'boolean' } as const;
const words = { type: 'string', multiple: true } as const;

/** Options of a command and its positional arguments, one by default. @throws WrongWords */
function parse<T extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  what: string,
  options: T,
  count = 1,
) {
  const { values, target, others } = parseOptional(args, what, options, count, count);
  return { values, target: target!, others };
}

/** The same, with fewer positional arguments. @throws WrongWords */
function parseOptional<T extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  what: string,
  options: T,
  count = 1,
  least = 0,
) {
  try {
    const { values, positionals } = parseArgs({
      args,
      options,
      allowPositionals: true,
      strict: true,
    });
    const given = positionals.length;
    if (given < least || given > count) {
      const wanted = given > count ? count : least;
      const bound = least === count ? '' : given > count ? 'at most ' : 'at least ';
      throw new Error(
        `expected ${bound}${wanted === 1 ? 'one' : wanted} ${what}, got ${given || 'none'}`,
      );
    }
    return { values, target: positionals[0], others: positionals.slice(1) };
  } catch (e) {
    throw new WrongWords(
      (e as Error).message.replace(/\. To specify a positional argument[^]*/, '.'),
    ); // Node's advice doesn't mention our options
  }
}

/** A running browser may have only one page, so its address may be omitted. */
const connects = (args: readonly string[]): boolean =>
  args.some((arg) => /^--connect(=|$)/.test(arg));

function needed(value: string | undefined, option: string): string {
  if (value === undefined) throw new WrongWords(`${option} is missing.`);
  return value;
}

function seconds(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const n = Number(value);
  if (!(n > 0 && n <= 86_400))
    throw wrongUse(`--seconds ${value}: expected a number above 0, up to 86400.`);
  return n;
}

function scope(value: string | undefined): 'tab' | 'origin' | undefined {
  if (value === undefined || value === 'tab' || value === 'origin') return value;
  throw wrongUse(`--scope ${value}: expected tab or origin.`);
}

/**
 * Turns `--config a=1 b=2` into `--config a=1 --config b=2`: the option takes all following words
 * of the form name=value.
 */
function repeated(args: readonly string[], names: readonly string[]): string[] {
  const out: string[] = [];
  let name: string | null = null;
  for (const arg of args) {
    if (arg.startsWith('-')) name = names.includes(arg) ? arg : null;
    else if (name && out.at(-1) !== name && /^\w+=/.test(arg)) out.push(name);
    out.push(arg);
  }
  return out;
}

/** Files to write in addition to the text output. */
const reports = { html: text, svg: text, csv: text } as const;
/**
 * `lab list`, `lab run NAME`, `lab replay FILE`, `lab show RESULT`, `lab diff A B`, `lab check
 * RESULT`, `lab advise FILE`, `lab crash`, `lab versions`.
 */
function lab([verb, ...args]: string[]): Promise<number> {
  if (
    verb !== 'list' &&
    verb !== 'run' &&
    verb !== 'replay' &&
    verb !== 'show' &&
    verb !== 'diff' &&
    verb !== 'check' &&
    verb !== 'advise' &&
    verb !== 'crash' &&
    verb !== 'versions'
  )
    throw new WrongWords(
      `vfscope lab ${verb === undefined ? 'needs a command' : `has no command "${verb}"`}: expected list, run, show, diff, check, replay, advise, crash, or versions.`,
    );
  if (verb === 'advise') {
    const { values, target } = parse(args, 'file', {
      database: text,
      json: yes,
      out: text,
      ...reports,
    });
    return adviseCommand({
      file: target,
      database: needed(values.database, '--database'),
      json: values.json ?? false,
      out: values.out,
      files: values,
    });
  }
  if (verb === 'crash') {
    const { values } = parse(
      repeated(args, ['--config']),
      'arguments',
      { config: words, json: yes, require: text, ...reports },
      0,
    );
    const { config = [], json = false, require } = values;
    return crashCommand({ config, json, require, files: values });
  }
  if (verb === 'versions') return versions(args);
  if (verb === 'diff') {
    const { values, target, others } = parse(args, 'results', { json: yes, ...reports }, 2);
    return diffResultsCommand({
      a: target,
      b: others[0]!,
      json: values.json ?? false,
      files: values,
    });
  }
  if (verb === 'check') {
    const { values, target } = parse(args, 'result', { budget: text, json: yes });
    return checkResultCommand({
      file: target,
      budget: needed(values.budget, '--budget'),
      json: values.json ?? false,
    });
  }
  if (verb === 'show') {
    const { values, target } = parse(args, 'result', {
      'leave-out': words,
      json: yes,
      ...reports,
    });
    return showCommand({
      file: target,
      leaveOut: values['leave-out'] ?? [],
      json: values.json ?? false,
      files: values,
    });
  }
  if (verb === 'replay') {
    const { values, target } = parse(repeated(args, ['--config']), 'file', {
      config: words,
      node: yes,
      json: yes,
      out: text,
      headed: yes,
      'page-sizes': yes,
      checkpoints: yes,
      ...reports,
    });
    const { config = [], node = false, json = false, headed = false, out } = values;
    return replayCommand({
      file: target,
      config,
      node,
      json,
      headed,
      out,
      files: values,
      pageSizes: values['page-sizes'] ?? false,
      checkpoints: values.checkpoints ?? false,
    });
  }
  const options = {
    config: words,
    compare: words,
    count: yes,
    statements: yes,
    functions: yes,
    memory: yes,
    node: yes,
    json: yes,
    repeats: text,
    sql: text,
    file: text,
    headed: yes,
    browser: text,
    engine: words,
    native: yes,
    cache: text,
    ...reports,
  } as const;
  const split = repeated(args, ['--config', '--compare']);
  const { values, target } = parse(
    split,
    verb === 'list' ? 'arguments' : 'experiment or workload',
    options,
    verb === 'list' ? 0 : 1,
  );
  const {
    config = [],
    compare = [],
    count = false,
    node = false,
    json = false,
    headed = false,
    browser = 'chromium',
    sql,
  } = values;
  const repeats = Number(values.repeats ?? 5);
  if (!(Number.isInteger(repeats) && repeats >= 1 && repeats <= 1000))
    throw wrongUse(`--repeats ${values.repeats}: expected 1 to 1000.`);
  return labCommand({
    verb,
    what: target,
    config,
    compare,
    count,
    statements: values.statements ?? false,
    functions: values.functions ?? false,
    memory: values.memory ?? false,
    node,
    json,
    repeats,
    database: values.file,
    sql,
    headed,
    browser,
    files: values,
    engines: values.engine ?? [],
    native: values.native ?? false,
    cache: values.cache,
  });
}

/** `fleet add INPUT ...`, `fleet compact DIR`, `fleet report DIR`. */
function fleet([verb, ...args]: string[]): Promise<number> {
  switch (verb) {
    case 'add': {
      const options = { out: text, label: words, sanitize: yes, shard: text, json: yes } as const;
      const { values, target, others } = parseOptional(args, 'input', options, 10_000, 1);
      const { out, label, sanitize, shard, json } = values;
      return fleetAdd({
        paths: [target!, ...others],
        out: needed(out, '--out'),
        labels: label,
        sanitize,
        shard,
        json,
      });
    }
    case 'compact': {
      const { values, target } = parse(args, 'folder', { json: yes });
      return fleetCompact(target, values.json);
    }
    case 'report': {
      const { values, target } = parse(args, 'folder', { by: text, json: yes, markdown: yes });
      return fleetReportCommand({ root: target, ...values });
    }
    default:
      throw new WrongWords(
        `vfscope fleet ${verb === undefined ? 'needs a command' : `has no command "${verb}"`}: expected add, compact, or report.`,
      );
  }
}

/** A whole number from 1, or nothing. */
function wholeNumber(value: string | undefined, option: string): number | undefined {
  if (value === undefined) return undefined;
  const n = Number(value);
  if (!(Number.isInteger(n) && n >= 1)) throw wrongUse(`${option} ${value}: expected 1 or more.`);
  return n;
}
function percent(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const n = Number(value);
  if (!(n > 0)) throw wrongUse(`--by ${value}: expected a percentage above 0.`);
  return n;
}

function versions(args: string[]): Promise<number> {
  const options = {
    package: words,
    releases: words,
    last: text,
    from: text,
    to: text,
    workload: text,
    config: words,
    out: text,
    bisect: yes,
    step: text,
    by: text,
    cache: text,
    json: yes,
    ...reports,
  } as const;
  const { values } = parse(repeated(args, ['--config']), 'arguments', options, 0);
  const list = (all: readonly string[] = []): string[] => all.flatMap((each) => each.split(','));
  return versionsCommand({
    packages: list(values.package),
    releases: list(values.releases),
    last: wholeNumber(values.last, '--last'),
    from: values.from,
    to: values.to,
    workload: values.workload ?? 'speedtest1',
    config: values.config ?? [],
    out: values.out,
    bisect: values.bisect ?? false,
    step: values.step ?? 'total',
    by: percent(values.by),
    cache: values.cache,
    json: values.json ?? false,
    files: values,
  });
}

/** `vfscope --help`, `vfscope help record`, `vfscope record --help` */
function helped(command: string | undefined, args: readonly string[]): boolean {
  const whole = command === '--help' || command === '-h' || command === 'help';
  if (!whole && !args.includes('--help') && !args.includes('-h')) return false;
  const [name = '', verb] = whole ? args : [command, ...args];
  console.log(usageOf(name, verb) ?? usage(VFSCOPE_VERSION));
  return true;
}

async function run([command, ...args]: string[]): Promise<number> {
  if (helped(command, args)) return Exit.done;
  switch (command) {
    case 'record': {
      const options = {
        out: text,
        until: text,
        seconds: text,
        script: text,
        browser: text,
        scope: text,
        screenshot: text,
        headed: yes,
        marks: yes,
        'until-mark': yes,
        devtools: yes,
        'require-sqlite': yes,
        json: yes,
        capture: text,
        layers: text,
        stacks: yes,
        messages: yes,
        instructions: yes,
        buffer: text,
        cpu: yes,
        'below-storage': yes,
        names: text,
        connect: text,
      } as const;
      const { values, target } = parseOptional(args, 'URL', options, 1, connects(args) ? 0 : 1);
      const {
        out,
        seconds: time,
        scope: covers,
        capture,
        layers,
        stacks,
        messages,
        instructions,
        buffer,
        'until-mark': untilMark,
        'below-storage': belowStorage,
        'require-sqlite': requireSqlite,
        ...rest
      } = values;
      return record({
        ...rest,
        url: target,
        out: out ?? recordingName(target ?? '', new Date()),
        seconds: seconds(time),
        scope: scope(covers),
        untilMark,
        belowStorage,
        requireSqlite,
        capture: captureOf({ capture, layers, stacks, messages, instructions, buffer }),
      });
    }
    case 'doctor': {
      const options = { connect: text, seconds: text, json: yes, markdown: yes } as const;
      const { values, target } = parseOptional(args, 'URL', options, 1, connects(args) ? 0 : 1);
      return doctorCommand({ ...values, url: target, seconds: seconds(values.seconds) });
    }
    case 'demo': {
      const options = {
        out: text,
        json: yes,
        headed: yes,
        browser: text,
        screenshot: text,
        vfs: text,
      };
      const { values } = parse(args, 'arguments', options, 0);
      return demo({ ...values, out: values.out ?? 'vfscope-demo.vfst' });
    }
    case 'listen': {
      const options = {
        out: text,
        port: text,
        origin: words,
        json: yes,
        capture: text,
        layers: text,
        stacks: yes,
        messages: yes,
        instructions: yes,
        buffer: text,
      };
      const { values } = parse(args, 'arguments', options, 0);
      const { out = recordingName('http://pages/', new Date()), port, origin = [], json } = values;
      return listenCommand({ out, port, origins: origin, json, capture: captureOf(values) });
    }
    case 'completion': {
      const { target } = parse(args, 'shell', {});
      if (!isShell(target)) throw wrongUse(`Unknown shell "${target}": expected ${SHELL_NAMES}.`);
      await print(completionScript(target));
      return Exit.done;
    }
    case 'summary': {
      const { values, target } = parse(args, 'file', { json: yes, markdown: yes, privacy: yes });
      if (values.markdown && (values.json || values.privacy))
        throw wrongUse("--markdown can't be combined with --json or --privacy.");
      return summaryCommand({ file: target, ...values });
    }
    case 'findings': {
      const { values, target } = parse(args, 'file', { json: yes, short: yes, rule: text });
      const { json = false, short = false, rule } = values;
      return findingsCommand({ file: target, json, short, rule });
    }
    case 'query': {
      const options = { json: yes, rows: text, tables: yes, short: yes } as const;
      const lists = args.includes('--tables');
      const { values, target, others } = parse(
        args,
        lists ? 'file' : 'arguments: a file and SQL',
        options,
        lists ? 1 : 2,
      );
      const rows = wholeNumber(values.rows, '--rows');
      if (values.short && (!lists || values.json))
        throw wrongUse("--short needs --tables, and doesn't work with --json.");
      return queryCommand({
        file: target,
        sql: others[0] ?? null,
        rows,
        json: values.json ?? false,
        short: values.short ?? false,
      });
    }
    case 'mcp':
      parse(args, 'arguments', {}, 0);
      return serveMcp(VFSCOPE_VERSION);
    case 'plans': {
      const { values, target } = parse(args, 'file', { json: yes, database: text });
      return plansCommand({ file: target, database: values.database, json: values.json ?? false });
    }
    case 'export': {
      const { values, target } = parse(args, 'file or folder', {
        format: text,
        out: text,
        sanitize: yes,
        json: yes,
      });
      const { format, out, sanitize, json } = values;
      return exportCommand({
        file: target,
        format: needed(format, '--format'),
        out: needed(out, '--out'),
        sanitize,
        json,
      });
    }
    case 'diff': {
      const { values, target, others } = parse(args, 'files', { json: yes, markdown: yes }, 2);
      const { json = false, markdown = false } = values;
      if (json && markdown) throw wrongUse("--markdown can't be combined with --json.");
      return diffCommand({ a: target, b: others[0]!, json, markdown });
    }
    case 'check': {
      const options = { budget: text, baseline: text, json: yes } as const;
      const { values, target } = parse(args, 'file', options);
      return checkCommand({ file: target, ...values });
    }
    case 'open': {
      const options = { lab: yes, 'no-browser': yes, screenshot: text, json: yes } as const;
      const { values, target } = parse(args, 'file', options);
      const { lab: withLab, 'no-browser': noBrowser, ...rest } = values;
      return open({ file: target, lab: withLab, noBrowser, ...rest });
    }
    case 'fleet':
      return fleet(args);
    case 'lab':
      return lab(args);
    case '--version':
    case '-v':
    case '-V':
      console.log(VFSCOPE_VERSION);
      return 0;
    default:
      if (command !== undefined) {
        const meant = didYouMean(command, commandNames());
        complain(
          `Unknown command "${command}".${meant === null ? '' : ` Did you mean "${meant}"?`}\n`,
        );
      }
      process.stderr.write(`${usage(VFSCOPE_VERSION)}\n`);
      return Exit.wrongUse;
  }
}

const inWords = (e: unknown): string => {
  if (e instanceof WrongWords)
    return `${e.message}\n\n${usageOf(process.argv[2] ?? '', process.argv[3]) ?? usage(VFSCOPE_VERSION)}`;
  return e instanceof CommandFailure
    ? e.message
    : e instanceof Error
      ? (e.stack ?? e.message)
      : String(e);
};

/**
 * A steps module may leave timers and servers that keep this process alive, so exit after a
 * recording once its output is written.
 */
async function end(code: number): Promise<void> {
  process.exitCode = code;
  if (process.argv[2] !== 'record' && process.argv[2] !== 'demo') return;
  await print('').catch(() => {}); // the output itself has reported its errors
  process.exit();
}

outliveReaders();
run(process.argv.slice(2)).then(end, (e: unknown) => {
  complain(inWords(e));
  return end(e instanceof CommandFailure ? e.exitCode : Exit.browserFailed);
});
