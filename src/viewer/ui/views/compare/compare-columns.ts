/** The columns of the Compare view's tables. */
import {
  findingDiffColumns,
  numberDiffColumns,
  statementDiffColumns,
} from '../../../../analysis/report/diff-table.ts';
import type { NumberRow, StatementDiff, TraceDiff } from '../../../../analysis/report/diff.ts';
import { plain, UNKNOWN_SQL } from '../../../../text/clean.ts';
import { viewColumns, type Column } from '../../parts/columns.ts';

export const numberColumns = (diff: TraceDiff): Column<NumberRow>[] =>
  viewColumns(numberDiffColumns(diff), {
    change: {},
    path: '1fr',
    a: {},
    b: {},
    verdict: {},
  });
export const statementColumns = (diff: TraceDiff): Column<StatementDiff>[] =>
  viewColumns(statementDiffColumns(diff), {
    change: {},
    fingerprint: { text: ({ sql }) => sql || UNKNOWN_SQL, width: '1fr' },
    runs: {},
    faster: {},
    slower: {},
    total: {},
    spread: {},
    verdict: {},
  });
/** A finding's text is from the trace that has it; from B if both have it. */
export const FINDINGS = viewColumns(findingDiffColumns, {
  rule: {},
  title: { text: (r) => plain((r.b.length ? r.b : r.a).join(' · ')), width: '1fr' },
  a: {},
  b: {},
  verdict: {},
});
