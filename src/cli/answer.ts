/** Prints the answer of a recording as soon as it is saved. */
import { stat } from 'node:fs/promises';
import { sqliteThreads } from '../analysis/core/main-threads.ts';
import { Facts } from '../analysis/core/graph.ts';
import {
  lateStarts,
  unrecordedText,
  unrecordedWorkers,
} from '../analysis/core/unrecorded-workers.ts';
import { answerOf, answerReport } from '../analysis/report/answer-report.ts';
import { shown } from '../text/clean.ts';
import { complain, openTrace } from '../terminal/open-file.ts';
import { reportText } from '../terminal/report-text.ts';
import { jsonText, print } from '../terminal/stdout.ts';

/**
 * Print the answer and the recording's gaps.
 * @param trouble the page's first error, for a page that ran no SQLite
 * @returns whether SQLite was seen
 */
export async function printAnswer(
  file: string,
  json: boolean,
  trouble: string | null = null,
): Promise<boolean> {
  const { store } = await openTrace(file);
  const facts = new Facts(store);
  const said = answerOf(facts);
  const { size } = await stat(file);
  if (json) await print(jsonText({ file, bytes: size, ...said }));
  else await print(`${reportText(answerReport(said, file))}\n${file} ${size} bytes\n`);
  const { unrecordedWorkers: missing, sqliteThreads: ran } = facts.known({
    unrecordedWorkers,
    sqliteThreads,
  });
  if (missing.length) complain(unrecordedText(missing));
  if (ran.length || store.threads.some(({ engines }) => engines.length)) return true;
  const late = lateStarts(store);
  for (const text of late) complain(shown(text));
  if (!late.length)
    complain(
      'No SQLite was seen on this page. Check that the page loads it while it is recorded: use --until, --seconds, or --script.',
    );
  if (trouble !== null) complain(`The page's first error: ${shown(trouble, 300)}`);
  return false;
}
