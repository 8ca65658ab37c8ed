/** `vfscope doctor URL`: what a page's origin holds and stores, without recording it. */
import { reportMarkdown } from '../analysis/report/report-markdown.ts';
import { lookAtPage } from '../connect/look-at-page.ts';
import { doctorReport } from '../doctor/report.ts';
import { insistOnWebAddress, wrongUse } from '../terminal/failure.ts';
import { Exit } from '../terminal/open-file.ts';
import { reportText } from '../terminal/report-text.ts';
import { jsonText, print } from '../terminal/stdout.ts';

interface DoctorArgs {
  /** With `connect`, it may be omitted if only one page is open there. */
  url?: string | undefined;
  connect?: string | undefined;
  seconds?: number | undefined;
  json?: boolean | undefined;
  markdown?: boolean | undefined;
}

/**
 * A page that was just loaded still opens its databases. For a page that is already open, waiting
 * only shows how old its locks are.
 */
const SECONDS = { loaded: 5, open: 2 };

/** @returns the exit code. The report goes to stdout, progress to stderr. @throws CommandFailure */
export async function doctorCommand({
  url,
  connect,
  seconds = connect === undefined ? SECONDS.loaded : SECONDS.open,
  json = false,
  markdown = false,
}: DoctorArgs): Promise<number> {
  if (json && markdown) throw wrongUse("--markdown can't be combined with --json.");
  if (connect === undefined) insistOnWebAddress(url);
  const doctor = await lookAtPage({ url, connect, seconds, say: (line) => console.error(line) });
  await print(
    json ? jsonText(doctor) : (markdown ? reportMarkdown : reportText)(doctorReport(doctor)),
  );
  return Exit.done;
}
