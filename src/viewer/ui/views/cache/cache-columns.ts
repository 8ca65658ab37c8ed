/** Columns of the Cache view's tables. */
import { firstRunColumns } from '../../../../analysis/cache/table.ts';
import { statementColumns } from '../../../../analysis/statements/table.ts';
import { UNKNOWN_SQL } from '../../../../text/clean.ts';
import { formatNumber, UNKNOWN } from '../../../../text/numbers.ts';
import { viewColumns } from '../../parts/columns.ts';

export const statementKey = ({ text }: { text: string | null }): string => text ?? '';

export const STATEMENT_COLUMNS = viewColumns(statementColumns, {
  fingerprint: { none: UNKNOWN_SQL, width: '1fr' },
  executions: { title: 'Runs', width: '60px' },
  hits: { title: 'Hits', width: '78px' },
  misses: '78px',
  hit_rate: '78px',
  spills: '60px',
});
export const FIRST_COLUMNS = viewColumns(firstRunColumns, {
  fingerprint: '1fr',
  executions: '60px',
  first: '78px',
  later: '78px',
  ratio: {
    text: (r) => (r.laterUs > 0 ? `${formatNumber(r.firstUs / r.laterUs)} ×` : UNKNOWN),
    width: '88px',
  },
  first_pages: '86px',
  later_pages: '86px',
});
