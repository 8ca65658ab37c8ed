/**
 * `vfscope summary FILE [--json|--markdown|--privacy]`: a trace as one page for a bug report or as
 * one JSON object, or what sharing it would reveal.
 */
import { privacyReport, privacyText } from '../analysis/privacy/privacy-report.ts';
import { reportMarkdown } from '../analysis/report/report-markdown.ts';
import { Facts } from '../analysis/core/graph.ts';
import { reportOf } from '../analysis/report/report.ts';
import { summaryOf } from '../analysis/report/summary.ts';
import type { Report } from '../analysis/report/blocks.ts';
import { textsOf } from '../plan/plan-words.ts';
import { plansOfFindings } from './plan-wasm.ts';
import { Exit, openTrace } from '../terminal/open-file.ts';
import { jsonText, print } from '../terminal/stdout.ts';
import { reportText } from '../terminal/report-text.ts';

interface SummaryArgs {
  file: string;
  json?: boolean;
  markdown?: boolean;
  /** Show only what the trace holds about its app and users; with `json`, as an object. */
  privacy?: boolean;
}

/** @returns the exit code: 0, or 2 if the file can't be read */
export async function summaryCommand({
  file,
  json = false,
  markdown = false,
  privacy = false,
}: SummaryArgs): Promise<number> {
  const trace = await openTrace(file);
  const { store, warnings } = trace;
  if (privacy) {
    const report = privacyReport(store);
    await print(json ? jsonText(report) : `${privacyText(report)}\n`);
  } else if (json) await print(jsonText(summaryOf(store)));
  else
    await print(
      (markdown ? reportMarkdown : reportText)(await plannedReport(new Facts(store), warnings)),
    );
  return Exit.done;
}

const plannedReport = async (facts: Facts, warnings: readonly string[]): Promise<Report> =>
  reportOf(facts, { warnings, plans: textsOf(await plansOfFindings(facts)) });
