/** `vfscope record`: a page recorded by the real extension in a real browser. */
import { EXTENSION, FIREFOX_EXTENSION } from '../drive/extension-folders.ts';
import { CommandFailure, wrongUse } from '../terminal/failure.ts';
import { findChromium, findFirefox } from '../drive/find-browser.mjs';
import { complain, Exit } from '../terminal/open-file.ts';
import { recordPage, type RecordOptions } from '../drive/session.ts';
import { checkWritable } from '../terminal/write-file.ts';
import { printAnswer } from './answer.ts';

export interface RecordArgs extends Omit<RecordOptions, 'extension' | 'say' | 'browser'> {
  browser?: string;
  /** Tests bring their own. */
  extension?: string;
  /** A recording in which no SQLite was seen fails. */
  requireSqlite?: boolean;
  /** Its answer as one object. */
  json?: boolean;
}

/** @returns the exit code; what the recording shows goes to stdout, progress and errors to stderr */
export async function record(args: RecordArgs): Promise<number> {
  const say = (line: string): void => console.error(line);
  try {
    const browser = browserOf(args);
    await check(args);
    await recordPage({
      ...args,
      browser,
      extension: args.extension ?? (browser === 'firefox' ? FIREFOX_EXTENSION : EXTENSION),
      say,
    });
  } catch (e) {
    if (!(e instanceof CommandFailure)) throw e;
    complain(e.message);
    return e.exitCode;
  }
  const seen = await printAnswer(args.out, args.json ?? false);
  return seen || !args.requireSqlite ? Exit.done : Exit.checkFailed;
}

/** What a recording is called where the user gives no name: `localhost-8080-20260131-180455.vfst`, by the clock of this machine. */
export function recordingName(url: string, at: Date): string {
  const host = URL.canParse(url) ? new URL(url).host : '';
  const two = (n: number): string => String(n).padStart(2, '0');
  const day = `${at.getFullYear()}${two(at.getMonth() + 1)}${two(at.getDate())}`;
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join('');
  return `${host.replace(/[^\w.]+/g, '-').replace(/^-+|-+$/g, '') || 'page'}-${day}-${time}.vfst`;
}

/** Without a word of the user's it is a Chromium, or a Firefox where that alone is installed. */
function browserOf({ browser }: RecordArgs): 'chromium' | 'firefox' {
  if (browser === 'chromium' || browser === 'firefox') return browser;
  const named = process.env['CHROMIUM'] !== undefined;
  if (browser === undefined)
    return named || findChromium() !== null || findFirefox() === null ? 'chromium' : 'firefox';
  throw wrongUse(`Unknown browser "${browser}": expected chromium or firefox.`);
}

/** All that can be known to fail before a browser is started: what was recorded could not be saved then. @throws CommandFailure */
async function check({ url, out, until, untilMark, screenshot }: RecordArgs): Promise<void> {
  if (untilMark && until !== undefined)
    throw wrongUse('--until and --until-mark: only one can say when the recording ends.');
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw wrongUse(`"${url}" is no web address: expected one that begins with http:// or https://`);
  for (const file of screenshot === undefined ? [out] : [out, screenshot])
    await checkWritable(file);
}
