/** The columns of the Compare view's tables. */
import {
  findingDiffColumns,
  numberDiffColumns,
  statementDiffColumns,
} from '../../../../analysis/report/diff-table.ts';
import type { StatementDiff } from '../../../../analysis/report/diff.ts';
import { plain, UNKNOWN_SQL } from '../../../../text/clean.ts';
import { formatShortCount } from '../../../../text/numbers.ts';
import { viewColumns, type Column } from '../../parts/columns.ts';
import type { Comparison } from '../../../session/queries/compare.ts';

export const NUMBERS = viewColumns(numberDiffColumns, {
  path: '1fr',
  a: '100px',
  b: '100px',
  ratio: '70px',
  verdict: '76px',
});
/** @param step of the clocks of both traces */
export const statementColumns = (step: Comparison['stepUs'] | undefined): Column<StatementDiff>[] =>
  viewColumns(statementDiffColumns, {
    fingerprint: { none: UNKNOWN_SQL, width: '1fr' },
    runsA: { text: (r) => formatShortCount(r.executionsA), width: '64px' },
    runsB: { text: (r) => formatShortCount(r.executionsB), width: '64px' },
    a: { stepUs: () => step?.a ?? null, width: '80px' },
    b: { stepUs: () => step?.b ?? null, width: '80px' },
    spread: '64px',
    total: '80px',
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
