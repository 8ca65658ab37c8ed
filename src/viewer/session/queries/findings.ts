/** What to change, by the findings' rules, and the report of a trace as text to paste. */
import { badges, findings } from '../../../analysis/findings/index.ts';
import { accounts } from '../../../analysis/findings/accounts.ts';
import { explained } from '../../../analysis/findings/explanation.ts';
import { noFindings } from '../../../analysis/findings/finding-facts.ts';
import { fact } from '../../../analysis/core/graph.ts';
import { reportMarkdown } from '../../../analysis/report/report-markdown.ts';
import { REPORT_NEEDS, reportOf } from '../../../analysis/report/report.ts';
import { answerOf } from './context.ts';
import type { Findings } from '../../../protocol/answers/findings.ts';

const shownFindings = fact(
  'shownFindings',
  'findings',
  { findings, badges, explained, accounts, noFindings },
  (_, known): Findings => ({ ...known }),
);
const markdown = fact('markdown', 'report', REPORT_NEEDS, (_, _known, facts) =>
  reportMarkdown(reportOf(facts)),
);

export const findingsQueries = {
  findings: answerOf(shownFindings),

  /** The trace as GitHub's Markdown, for an issue. */
  markdownReport: answerOf(markdown),
};
