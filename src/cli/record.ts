/** `vfscope record`: a page recorded by the real extension in a real browser. */
import { stat } from 'node:fs/promises';
import { EXTENSION, FIREFOX_EXTENSION } from '../drive/extension-folders.ts';
import { CommandFailure, wrongUse } from '../terminal/failure.ts';
import { sqliteThreads } from '../analysis/core/main-threads.ts';
import { Facts } from '../analysis/core/graph.ts';
import { unrecordedText, unrecordedWorkers } from '../analysis/core/unrecorded-workers.ts';
import { complain, Exit, openTrace } from '../terminal/open-file.ts';
import { recordPage, type RecordOptions } from '../drive/session.ts';
import { checkWritable } from '../terminal/write-file.ts';

export interface RecordArgs extends Omit<RecordOptions, 'extension' | 'say' | 'browser'> {
  browser?: string;
  /** Tests bring their own. */
  extension?: string;
  /** A recording in which no SQLite was seen fails. */
  requireSqlite?: boolean;
}

/** @returns the exit code; the result goes to stdout, progress and errors to stderr */
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
  console.log(`${args.out} ${(await stat(args.out)).size} bytes`);
  return judge(args);
}

/** Say what the recording lacks. @returns the exit code */
async function judge({ out, requireSqlite = false }: RecordArgs): Promise<number> {
  const { store } = await openTrace(out);
  const { unrecordedWorkers: missing, sqliteThreads: ran } = new Facts(store).known({
    unrecordedWorkers,
    sqliteThreads,
  });
  if (missing.length) complain(unrecordedText(missing));
  if (ran.length || store.threads.some(({ engines }) => engines.length)) return Exit.done;
  complain(
    'No SQLite was seen on this page. Check that the page loads it while it is recorded: use --until, --seconds, or --script.',
  );
  return requireSqlite ? Exit.checkFailed : Exit.done;
}

function browserOf({ browser = 'chromium' }: RecordArgs): 'chromium' | 'firefox' {
  if (browser === 'chromium' || browser === 'firefox') return browser;
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
