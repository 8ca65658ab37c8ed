/** What to change, by the findings' rules, and the report of a trace as text to paste. */
import {
  badgesOf,
  findingContext,
  findingsOf,
  type Badge,
  type Finding,
} from '../../../analysis/findings/index.ts';
import { reportMarkdown } from '../../../analysis/report/report-markdown.ts';
import { reportOf } from '../../../analysis/report/report.ts';
import { sharedSummary } from '../../../analysis/report/summary.ts';
import type { QueryContext } from './context.ts';
import { forLife } from './overview.ts';

interface Findings {
  /** The largest saving first. Rows of the evidence are numbers for life. */
  findings: Finding[];
  badges: Badge[];
}

export const findingsQueries = {
  findings({ store, shared, memo }: QueryContext, _args: object): Findings {
    return memo('findings', () => {
      const ctx = findingContext(shared);
      const findings = findingsOf(store, ctx).map((f) => ({
        ...f,
        evidence: {
          ...f.evidence,
          events: f.evidence.events.map((event) => forLife(store, event)),
        },
      }));
      return { findings, badges: badgesOf(store, ctx) };
    });
  },

  /** The trace as GitHub's Markdown, for an issue. */
  markdownReport({ store, shared, memo }: QueryContext, _args: object): string {
    return memo('markdown', () =>
      reportMarkdown(reportOf(store, { shared, summary: sharedSummary(shared) })),
    );
  },
};
