/** Columns of the Cache view's tables. */
import { firstRunColumns } from '../../../../analysis/cache/table.ts';
import { statementColumns } from '../../../../analysis/statements/table.ts';
import { formatNumber, UNKNOWN } from '../../../../text/numbers.ts';
import { viewColumns } from '../../parts/columns.ts';
import { statementTitle } from '../statements/statement-columns.ts';

export const statementKey = ({ text }: { text: string | null }): string => text ?? '';

export const STATEMENT_COLUMNS = viewColumns(statementColumns, {
  fingerprint: { text: statementTitle, width: '1fr' },
  executions: { title: 'Runs' },
  hits: { title: 'Hits' },
  misses: {},
  hit_rate: {},
  spills: {},
});
export const FIRST_COLUMNS = viewColumns(firstRunColumns, {
  fingerprint: { text: ({ sql }) => sql, width: '1fr' },
  executions: {},
  first: {},
  later: {},
  ratio: {
    text: (r) => (r.laterUs > 0 ? `${formatNumber(r.firstUs / r.laterUs)} ×` : UNKNOWN),
  },
  first_pages: {},
  later_pages: {},
});
