/** Columns of the Cache view's tables, and why a number is missing. */
import { firstRunColumns } from '../../../../analysis/cache/table.ts';
import { statementColumns } from '../../../../analysis/statements/table.ts';
import { UNKNOWN_SQL } from '../../../../text/clean.ts';
import { formatNumber, UNKNOWN } from '../../../../text/numbers.ts';
import type { CacheAnswer } from '../../../session/queries/cache.ts';
import { viewColumns } from '../../parts/columns.ts';

/** Why SQLite's page cache is not known. */
export function noCountersCause({
  engines,
  hasSql,
  sqlLeftOut,
}: Pick<CacheAnswer, 'engines' | 'hasSql' | 'sqlLeftOut'>): string {
  if (sqlLeftOut)
    return "The recording leaves statements out, and with them the counters of SQLite's page cache, which are read after each. A hit makes no VFS call.";
  if (!engines.length)
    return 'vfscope recognized no SQLite engine, so it has no page cache counters to read. A hit makes no VFS call.';
  const names = [...new Set(engines.map(({ name }) => name))].join(', ');
  if (engines.some(({ counters }) => counters))
    return `The engine (${names}) has counters, but ${hasSql ? 'none of its statements was finished in the recording' : 'no SQL call was recorded that they could be read after'}.`;
  return `The engine (${names}) does not export sqlite3_db_status: its page cache hits make no VFS call and can't be counted. Builds that do: @journeyapps/wa-sqlite 2, @sqlite.org/sqlite-wasm.`;
}

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
