/** A budget's limits as a table, for a terminal. */
import type { BudgetRow } from '../analysis/report/budget.ts';
import { plain } from '../text/clean.ts';
import { formatExact } from '../text/numbers.ts';
import { table } from './report-text.ts';

/** The limits as a table, the broken ones first. */
export function budgetText(rows: readonly BudgetRow[]): string {
  const broken = rows.filter((r) => !r.ok);
  const limit = (n: number | undefined): string => (n === undefined ? '' : formatExact(n));
  const cells = (r: BudgetRow): string[] => [
    plain(r.path),
    formatExact(r.value),
    limit(r.limit.min),
    limit(r.limit.max),
    r.ok ? 'ok' : 'BROKEN',
    plain(r.cause ?? ''),
  ];
  const order = [...broken, ...rows.filter((r) => r.ok)];
  const head = broken.length
    ? `${broken.length} of ${rows.length} limits broken`
    : `All ${rows.length} limits hold`;
  return `${[head, ...table(['number', 'value', 'min', 'max', '', 'why'], order.map(cells))].join('\n')}\n`;
}
