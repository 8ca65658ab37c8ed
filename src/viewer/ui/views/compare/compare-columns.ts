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
    change: '90px',
    path: '1fr',
    a: '100px',
    b: '100px',
    verdict: '76px',
  });
export const statementColumns = (diff: TraceDiff): Column<StatementDiff>[] =>
  viewColumns(statementDiffColumns(diff), {
    change: '204px',
    fingerprint: { none: UNKNOWN_SQL, width: '1fr' },
    runs: '84px',
    faster: '56px',
    slower: '58px',
    total: '80px',
    spread: '64px',
    verdict: '76px',
  });
/** A finding reads as in the trace that has it; as in B where both have it. */
export const FINDINGS = viewColumns(findingDiffColumns, {
  rule: '48px',
  title: { text: (r) => plain((r.b.length ? r.b : r.a).join(' · ')), width: '1fr' },
  a: '88px',
  b: '88px',
  verdict: '76px',
});
