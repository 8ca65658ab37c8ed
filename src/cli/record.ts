/** `vfscope record`: records a page with the extension in a real browser. */
import { readFile } from 'node:fs/promises';
import { EXTENSION, FIREFOX_EXTENSION } from '../drive/extension-folders.ts';
import { CommandFailure, insistOnWebAddress, wrongUse } from '../terminal/failure.ts';
import { findChromium, findFirefox } from '../drive/find-browser.mjs';
import { functionNames } from '../lab/meter/function-names.ts';
import { MeterError } from '../lab/meter/reader.ts';
import type { FunctionNames } from '../trace/name-functions.ts';
import { cannotRead, complain, Exit } from '../terminal/open-file.ts';
import { recordConnected } from '../connect/record-connected.ts';
import { recordPage, type RecordOptions } from '../drive/session.ts';
import { checkWritable } from '../terminal/write-file.ts';
import { printAnswer } from './answer.ts';

export interface RecordArgs extends Omit<
  RecordOptions,
  'extension' | 'say' | 'browser' | 'url' | 'names'
> {
  /** With `connect`, it may be omitted if only one page is open there. */
  url?: string;
  /** Address of a running browser's debugging port. */
  connect?: string;
  browser?: string;
  /** A wasm file with function names, for CPU samples. */
  names?: string;
  /** Set by tests. */
  extension?: string;
  /** Fail if no SQLite was seen. */
  requireSqlite?: boolean;
  /** Print the answer as one JSON object. */
  json?: boolean;
}

/** @returns the exit code. Results go to stdout, progress and errors to stderr. */
export async function record(args: RecordArgs): Promise<number> {
  const say = (line: string): void => console.error(line);
  let trouble: string | null = null;
  try {
    const { connect, url, extension } = args;
    await check(args);
    const names = args.names === undefined ? undefined : await namesIn(args.names);
    if (connect !== undefined)
      await recordConnected({ ...args, names, connect, extension: extension ?? EXTENSION, say });
    else {
      const browser = browserOf(args);
      if (args.cpu && browser === 'firefox')
        throw wrongUse("--cpu needs Chromium: Firefox's profiler can't be driven.");
      if (args.belowStorage && browser === 'firefox')
        throw wrongUse("--below-storage needs Chromium: Firefox doesn't report its storage calls.");
      trouble = await recordPage({
        ...args,
        names,
        url: url!,
        browser,
        extension: extension ?? (browser === 'firefox' ? FIREFOX_EXTENSION : EXTENSION),
        say,
      });
    }
  } catch (e) {
    if (!(e instanceof CommandFailure)) throw e;
    complain(e.message);
    return e.exitCode;
  }
  const seen = await printAnswer(args.out, args.json ?? false, trouble);
  return seen || !args.requireSqlite ? Exit.done : Exit.checkFailed;
}

/** Default name of a recording: `localhost-8080-20260131-180455.vfst`, in local time. */
export function recordingName(url: string, at: Date): string {
  const host = URL.canParse(url) ? new URL(url).host : '';
  const two = (n: number): string => String(n).padStart(2, '0');
  const day = `${at.getFullYear()}${two(at.getMonth() + 1)}${two(at.getDate())}`;
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join('');
  return `${host.replace(/[^\w.]+/g, '-').replace(/^-+|-+$/g, '') || 'page'}-${day}-${time}.vfst`;
}

/** The default is a Chromium, or a Firefox if only that is installed. */
function browserOf({ browser }: RecordArgs): 'chromium' | 'firefox' {
  if (browser === 'chromium' || browser === 'firefox') return browser;
  const named = process.env['CHROMIUM'] !== undefined;
  if (browser === undefined)
    return named || findChromium() !== null || findFirefox() === null ? 'chromium' : 'firefox';
  throw wrongUse(`Unknown browser "${browser}": expected chromium or firefox.`);
}

/** @throws CommandFailure (exit code 2) */
async function namesIn(file: string): Promise<FunctionNames> {
  const bytes = await readFile(file).catch((e: unknown) => {
    throw wrongUse(cannotRead(file, e, 'a wasm file'));
  });
  try {
    return functionNames(bytes);
  } catch (e) {
    if (!(e instanceof MeterError)) throw e;
    throw wrongUse(`${file} isn't a wasm file with names: ${e.message}.`);
  }
}

/** Options of a browser that the command starts. */
const OF_OUR_BROWSER = ['browser', 'devtools', 'scope', 'screenshot'] as const;

/**
 * Check everything that can fail before a browser starts, because a recording couldn't be saved
 * later. @throws CommandFailure
 */
async function check(args: RecordArgs): Promise<void> {
  const { url, connect, out, until, untilMark, screenshot, cpu, names } = args;
  if (names !== undefined && !cpu)
    throw wrongUse('--names needs --cpu: it names functions in CPU samples.');
  if (untilMark && until !== undefined)
    throw wrongUse('Use --until or --until-mark, not both: only one can end the recording.');
  const [other] = OF_OUR_BROWSER.filter((name) => args[name] !== undefined);
  if (connect !== undefined && other !== undefined)
    throw wrongUse(`--${other} doesn't work with --connect: the browser is already running.`);
  // an app that already runs may have other addresses, such as file:
  if (connect === undefined && url === undefined)
    throw wrongUse('The address of the page is missing.');
  if (connect !== undefined && (url === undefined || URL.canParse(url))) {
    await checkWritable(out);
    return;
  }
  insistOnWebAddress(url);
  for (const file of screenshot === undefined ? [out] : [out, screenshot])
    await checkWritable(file);
}
