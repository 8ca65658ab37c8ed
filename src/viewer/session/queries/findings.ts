/** What to change, by the findings' rules, and a trace's report as text to paste. */
import { badges, findings } from '../../../analysis/findings/index.ts';
import { accounts } from '../../../analysis/findings/accounts.ts';
import { explained } from '../../../analysis/findings/explanation.ts';
import { noFindings } from '../../../analysis/findings/finding-facts.ts';
import { fact } from '../../../analysis/core/graph.ts';
import { extent } from '../../../analysis/core/time-range.ts';
import { agentContext, agentText } from '../../../analysis/report/agent-text.ts';
import { reportMarkdown } from '../../../analysis/report/report-markdown.ts';
import { REPORT_NEEDS, reportOf } from '../../../analysis/report/report.ts';
import { FINDING_PLAN_NEEDS } from '../../../plan/finding-plans.ts';
import { answerOf, needing, type QueryContext } from './context.ts';
import { planTexts } from './plans.ts';
import type { Findings } from '../../../protocol/answers/findings.ts';

const shownFindings = fact(
  'shownFindings',
  'findings',
  { findings, badges, explained, accounts, noFindings, extent },
  (_, { extent: [, toUs], ...known }): Findings => ({ ...known, toUs }),
);

export const findingsQueries = {
  findings: answerOf(shownFindings),

  /** All findings of a rule for a coding agent, as Markdown, with their query plans. */
  agentText: needing(
    [agentContext, ...Object.values(FINDING_PLAN_NEEDS)],
    async ({ facts }: QueryContext, { rule }: { rule: string }): Promise<string> => {
      const plans = await planTexts(facts);
      return facts
        .get(findings)
        .filter((finding) => finding.rule === rule)
        .map((finding) => {
          const plan = plans.get(finding.statement ?? '');
          return agentText(finding, facts.get(agentContext), { plan: plan ? [plan] : [] });
        })
        .join('\n');
    },
  ),

  /** The trace as GitHub's Markdown, for an issue. */
  markdownReport: needing(
    [...Object.values(REPORT_NEEDS), ...Object.values(FINDING_PLAN_NEEDS)],
    async ({ facts }: QueryContext, _args: object): Promise<string> =>
      reportMarkdown(reportOf(facts, { plans: await planTexts(facts) })),
  ),
};
