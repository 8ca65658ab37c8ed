/** Columns of the Cache view's tables, and why a number is missing. */
import type { FirstExecution } from '../../../../analysis/cache/cold-warm.ts';
import type { Column } from '../../parts/columns.ts';
import {
  formatCount,
  formatDuration,
  formatNumber,
  formatShare,
} from '../../../../text/numbers.ts';
import type { CacheAnswer, StatementCache } from '../../../session/queries/cache.ts';

/** Why SQLite's page cache is not known. */
export function noCountersCause({
  engines,
  hasSql,
  sqlLeftOut,
}: Pick<CacheAnswer, 'engines' | 'hasSql' | 'sqlLeftOut'>): string {
  if (sqlLeftOut)
    return 'The recording leaves statements out, and with them the counters of SQLite’s page cache, which are read after each. A hit makes no VFS call.';
  if (!engines.length)
    return 'No SQLite engine was recognised in this trace, so nobody counts the hits of its page cache. A hit makes no VFS call.';
  const names = [...new Set(engines.map(({ name }) => name))].join(', ');
  if (engines.some(({ counters }) => counters))
    return `The engine (${names}) has counters, but ${hasSql ? 'none of its statements was finished in the recording' : 'no SQL call was recorded that they could be read after'}.`;
  return `The engine (${names}) does not export sqlite3_db_status: its page cache’s hits make no VFS call and are counted by nobody. Builds that do: @journeyapps/wa-sqlite 2, @sqlite.org/sqlite-wasm.`;
}

export const statementKey = ({ text }: { text: string | null }): string => text ?? '';
const rate = (r: StatementCache): number | null =>
  r.hits + r.misses ? r.hits / (r.hits + r.misses) : null;
const number = <Row>(
  key: string,
  title: string,
  definition: string,
  value: (row: Row) => number | null,
  text: (n: number) => string = formatCount,
  width = '78px',
): Column<Row> => ({
  key,
  title,
  definition,
  width,
  numeric: true,
  value,
  text: (row) => {
    const n = value(row);
    return n === null ? 'n/a' : text(n);
  },
});

export const STATEMENT_COLUMNS: readonly Column<StatementCache>[] = [
  {
    key: 'text',
    title: 'Statement',
    width: '1fr',
    mono: true,
    value: (r) => r.text,
    text: (r) => r.text ?? 'text not known',
  },
  number('executions', 'Runs', 'Executions', (r) => r.executions, formatCount, '60px'),
  number('hits', 'Hits', 'Pages found in SQLite’s page cache', (r) => r.hits),
  number('misses', 'Misses', 'Pages read through the VFS', (r) => r.misses),
  number('rate', 'Hit rate', 'n/a: it asked for no page', rate, formatShare),
  number(
    'spills',
    'Spills',
    'Pages written early, to make room in the middle of a transaction',
    (r) => r.spills,
    formatCount,
    '60px',
  ),
];
export const FIRST_COLUMNS: readonly Column<FirstExecution>[] = [
  { key: 'text', title: 'Statement', width: '1fr', mono: true, value: (r) => r.text },
  number('executions', 'Runs', 'Executions', (r) => r.executions, formatCount, '60px'),
  number('first', 'First', 'Its first run', (r) => r.firstUs, formatDuration),
  number('later', 'Later', 'Mean of the others', (r) => r.laterUs, formatDuration),
  number(
    'ratio',
    'First / later',
    'How much dearer the first run was',
    (r) => (r.laterUs > 0 ? r.firstUs / r.laterUs : null),
    (n) => `${formatNumber(n)} ×`,
    '88px',
  ),
  number(
    'firstPages',
    'Pages first',
    'Pages read beneath the first run. n/a: no VFS call is recorded',
    (r) => r.firstPages,
    formatCount,
    '86px',
  ),
  number(
    'laterPages',
    'Pages later',
    'Mean of the others',
    (r) => r.laterPages,
    formatNumber,
    '86px',
  ),
];
